"""The task: what a collector asks, under which promise, when and how often (docs/protocol.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import date, timedelta
from functools import cached_property
from math import prod
from typing import Any

from deniable_client.addresses import checked_url
from deniable_client.canonical import canonical, digest, parse
from deniable_client.device import Steps, explain
from deniable_client.documents import fields_of, is_number, is_whole
from deniable_client.domains import Domain
from deniable_client.errors import FormatError, ParameterError, PrivacyError, WindowError, show, within
from deniable_client.explanation import Explanation
from deniable_client.grammar import SHARE_MAX, split_design
from deniable_client.kernels.box import QUESTIONS_MAX
from deniable_client.kernels.dealt import Dealt
from deniable_client.questions import (
    NAME,
    NAMED,
    SHOWN,
    TEXT_MAX,
    Question,
    Single,
    amount_of,
    asked_together,
    check_again,
    check_labels,
    check_none,
    check_translated,
    kind_in,
    list_in,
    need,
    need_apart,
    shown_in,
    single_in,
    text_in,
)
from deniable_client.signing import verify
from deniable_client.words import Words

__all__ = ["NOT_TOLD", "Question", "Task", "seal", "signed_part"]

VERSIONS = (1, 2)
NOT_TOLD = "not told"
"""The value of a stratum that somebody does not tell."""

_NEEDED: Mapping[int, tuple[str, ...]] = {
    1: (
        "version",
        "id",
        "subject",
        "epsilon",
        "questions",
        "window",
        "precision",
        "min_batch",
        "memory",
        "budget",
        "retention",
        "expires",
    ),
    2: (
        "version",
        "id",
        "signature",
        "collector",
        "language",
        "subject",
        "epsilon",
        "design",
        "questions",
        "window",
        "memory",
        "sending",
        "budget",
        "min_batch",
        "retention",
    ),
}
_OPTIONAL = {1: ("collector", "strata"), 2: ("translations", "strata", "purpose", "results")}
_MEMORIES = {1: ("fresh", "remembered", "first"), 2: ("fresh",)}
_BUDGETS = ("task", "subject", "lifetime")
_BUDGET_MAX = 1000
_LEAST = 1e-12
_PURPOSE_MAX = 1000
_LISTED_MAX = 255
"""Questions, and values of a stratum: one byte of a report."""
_STRATA_MAX, _GROUPS_MAX = 8, 4096
_ATTEMPTS_MAX, _SEND_DAYS_MAX = 8, 7
_BYTES_MAX = 1 << 22
_TEXTS_MAX = 1 << 20
"""Characters of a task's texts, all together."""
_DAY = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TAG = re.compile("(?=.{2,35}$)[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*")
_KEY, _SIGNATURE = re.compile("[0-9a-f]{64}"), re.compile("[0-9a-f]{128}")
_READ = object()
"""What `Task.load` alone has: no task is made by other ways, or changed."""


@dataclass(frozen=True)
class Task:
    """A task that has the right form, id and signature, and whose designs all keep their promises.

    `Task.load` reads one; there is no other way to make a task.
    """

    version: int
    id: str
    subject: str
    epsilon: float
    questions: tuple[Question, ...]
    strata: Mapping[str, tuple[str, ...]]
    """Values by name, each at the place of its number; in version 2 the first is `NOT_TOLD`."""
    opens: date
    days: int
    count: int
    expires: date
    """From this day on nothing is sent any more."""
    min_batch: int
    memory: str
    budget: Mapping[str, float]
    keep: str
    keep_days: int
    collector: str | None
    key: str | None
    """The collector's public key in hexadecimal digits; None in version 1."""
    url: str | None
    """Where reports go, if the collector signed that."""
    attempts: int
    send_days: int
    language: str | None
    translations: Mapping[str, Mapping[str, Any]]
    purpose: str | None
    """Why it is asked, in the collector's words."""
    results: str
    """Who will see what is published: "public" for everybody, else "private"."""
    titles: Mapping[str, str]
    """What people read for a stratum, by its name, where that is another text."""
    document: Mapping[str, Any] = field(repr=False)
    read: InitVar[object]

    def __post_init__(self, read: object) -> None:
        if read is not _READ:
            raise ParameterError("a task is read with Task.load(data), and never made or changed by other ways.")

    @classmethod
    def load(cls, data: bytes | str | Mapping[str, Any], *, expect: str | None = None) -> Task:
        """Read a task; `FormatError` if it is none or was altered, `PrivacyError` if it leaks.

        `expect` is the id that the task should have, where it is known beforehand.
        """
        document = parse(canonical(data) if isinstance(data, Mapping) else data, "the task", _BYTES_MAX)
        version = document.get("version")
        if version not in VERSIONS or isinstance(version, bool):
            known = " and ".join(map(str, VERSIONS))
            raise FormatError(f"task version {show(version)} is unknown; this client has {known}.")
        given = fields_of(document, "a task", _NEEDED[version], _OPTIONAL[version])
        found = _name_of(document)
        if given["id"] != found or expect not in (None, found):
            named = given["id"] if expect is None else expect
            raise FormatError(
                f"the task was altered: its content has the id {found}, not {show(named)}.",
                "Nothing is sent. Ask for the task again.",
            )
        need(_characters(document) <= _TEXTS_MAX, "texts", f"at most {_TEXTS_MAX} characters", _characters(document))
        return (_read_first if version == 1 else _read_second)(given)

    @property
    def closes(self) -> date:
        """The first day after the last window."""
        return self.opens + timedelta(self.days * self.count)

    @property
    def most(self) -> float:
        """The most that it asks of one device: for this task in version 1, for all of its collector in a year since."""
        return self.budget["task" if self.version == 1 else "collector"]

    @property
    def several(self) -> bool:
        """Whether there is more than one question, so that bodies have a question's number."""
        return len(self.questions) > 1

    @cached_property
    def kernel(self) -> Any:
        """What makes its reports: the kernel of its question, or the deal of one of several."""
        parts = tuple(question.explanation.design.kernel for question in self.questions)
        return Dealt(parts, tuple(question.share for question in self.questions)) if self.several else parts[0]

    @property
    def question_at(self) -> int | None:
        """Where bodies have the number of the question; None if there is only one."""
        return None if not self.several else 0 if self.version == 1 else len(self.strata)

    @property
    def strata_at(self) -> int:
        """Where bodies have the number of the first stratum's value."""
        return int(self.several) if self.version == 1 else 0

    @cached_property
    def width(self) -> int:
        """Bytes of every report body of this task."""
        return int(self.kernel.width) + len(self.strata)

    def window(self, today: date) -> int:
        """The number of the window that a day is in; `WindowError` if there is none."""
        if today >= self.expires:
            raise WindowError(f"this task expired on {self.expires}; nothing is sent any more.")
        if not self.opens <= today < self.closes:
            told = f"opens on {self.opens}" if today < self.opens else f"was open until {self.closes - timedelta(1)}"
            raise WindowError(f"this task is not open today, {today}: it {told}.")
        return (today - self.opens).days // self.days

    def question(self, name: str) -> Question:
        """A question by its name."""
        for question in self.questions:
            if question.name == name:
                return question
        known = ", ".join(question.name for question in self.questions)
        raise ParameterError(f"question must be one of {known}, got {show(name)}.")

    def deal(self, words: Words) -> Question:
        """One of the questions, drawn by their shares."""
        return self.questions[self.kernel.deal(words) if self.several else 0]

    def body(self, question: Question, report: bytes, strata: Mapping[str, str] | None = None) -> bytes:
        """What is sent: the numbers of the question and of the strata, the report, and zeros up to `width`."""
        groups, at = bytes(self.groups(strata)), self.strata_at
        framed = self.kernel.frame(self.questions.index(question), report) if self.several else report
        return bytes(framed[:at] + groups + framed[at:])

    def head(self, question: Question, strata: Mapping[str, str] | None = None) -> bytes:
        """The first bytes of a body, which are sent in the clear: the numbers of the question and of the strata."""
        return self.body(question, bytes(question.width), strata)[: self.several + len(self.strata)]

    def groups(self, strata: Mapping[str, str] | None = None) -> list[int]:
        """The number of the value that is told for each stratum; in version 2 those left out are not told."""
        given = dict(strata or {})
        if self.version > 1:
            given = dict.fromkeys(self.strata, NOT_TOLD) | given
        if set(given) != set(self.strata):
            need = ", ".join(self.strata) or "none"
            raise ParameterError(f"strata must be given for exactly {need}, got {show(sorted(map(str, given)))}.")
        for name, values in self.strata.items():
            if given[name] not in values:
                raise ParameterError(f"{name} must be one of {', '.join(values)}, got {show(given[name])}.")
        return [values.index(given[name]) for name, values in self.strata.items()]

    def terms(self) -> tuple[str, ...]:
        """What the task says, in sentences for a person who decides whether to answer; one line each, safe to print."""
        from deniable_client.terms import terms_of

        return terms_of(self)


def _name_of(document: Mapping[str, Any]) -> str:
    """The id of a document: the hash of everything but it and the signature."""
    return digest({name: part for name, part in document.items() if name not in ("id", "signature")})


def signed_part(name: str) -> bytes:
    """What a collector signs: the id of a task."""
    return b"deniable/2 task\0" + bytes.fromhex(name)


def seal(document: Mapping[str, Any], sign: Callable[[bytes], bytes] | None = None) -> dict[str, Any]:
    """A document with its id and, in version 2, its signature, after the checks that a device will make.

    `sign` gives the 64 bytes of the Ed25519 signature of a message with the collector's key.
    """
    sealed = {**document, "id": _name_of(document)}
    if document.get("version") == 2:
        if sign is None:
            raise ParameterError("sign must be given: a task of version 2 has its collector's signature.")
        sealed["signature"] = sign(signed_part(sealed["id"])).hex()
    return dict(Task.load(sealed).document)


# ---- reading the parts


class _Proofs:
    """What the designs of a task may send; each is proved once, and all of them together are so much work at most."""

    def __init__(self) -> None:
        self._known: dict[str, Explanation] = {}
        self._charge = Steps()

    def of(self, design: Any, name: str) -> Explanation:
        """What a design may send, for the question of this name."""
        key = digest({"design": design})
        if key not in self._known:
            with within(f"question {name}"):
                self._known[key] = explain(design, charge=self._charge)
        return self._known[key]


def _read_first(given: Mapping[str, Any]) -> Task:
    """A task of version 1."""
    subject, epsilon = text_in(given["subject"], "subject", 200), _amount(given["epsilon"], "epsilon")
    questions, proofs = list_in(given["questions"], "questions", 1, _LISTED_MAX), _Proofs()
    found = tuple(_whole_question(question, {"subject": subject}, epsilon, proofs) for question in questions)
    common = _common(given, 1, found)
    closes, expires = common["opens"] + timedelta(common["days"] * common["count"]), _day(given["expires"], "expires")
    need(expires >= closes, "expires", "after the last window", expires)
    need(given["precision"] == "day", "precision", "day", given["precision"])
    fields = fields_of(given["budget"], "budget", _BUDGETS)
    budget = {name: _amount(fields[name], f"budget of {name}") for name in _BUDGETS}
    rising = epsilon <= budget["task"] <= budget["subject"] <= budget["lifetime"]
    need(rising, "budget", f"epsilon <= task <= subject <= lifetime <= {_BUDGET_MAX}", given["budget"])
    return Task(
        **common,
        subject=subject,
        epsilon=epsilon,
        questions=found,
        strata=_strata(given.get("strata", []), 2, _LISTED_MAX),
        expires=expires,
        budget=budget,
        collector=text_in(given["collector"], "collector", 200) if "collector" in given else None,
        key=None,
        url=None,
        attempts=_ATTEMPTS_MAX,
        send_days=_SEND_DAYS_MAX,
        language=None,
        translations={},
        purpose=None,
        results="private",
        titles={},
        read=_READ,
    )


def _read_second(given: Mapping[str, Any]) -> Task:
    """A task of version 2."""
    collector = fields_of(given["collector"], "collector", ("name", "key"), ("url",))
    key, signature = collector["key"], given["signature"]
    need(_fits(_KEY, key), "key", "64 hexadecimal digits in small letters", key)
    need(_fits(_SIGNATURE, signature), "signature", "128 hexadecimal digits in small letters", signature)
    if not verify(bytes.fromhex(key), bytes.fromhex(signature), signed_part(given["id"])):
        told = f"the task is not signed with the key {key[:16]}.. of its collector; nothing is sent."
        raise FormatError(told, "Ask for the task again.")
    subject, epsilon = text_in(given["subject"], "subject", 200), _amount(given["epsilon"], "epsilon")
    need(_fits(_TAG, given["language"]), "language", "a tag such as en or pt-BR", given["language"])
    sending = fields_of(given["sending"], "sending", ("attempts", "days"))
    designs, shares = split_design(given["design"], epsilon)
    texts = list_in(given["questions"], "questions", len(designs), len(designs))
    asked = [list_in(together, "questions of a part", 1, QUESTIONS_MAX) for together in texts]
    proofs, own = _Proofs(), {"collector": key}
    found = tuple(_part(*each, own, epsilon, proofs) for each in zip(asked, designs, shares, strict=True))
    check_again(found)
    common = _common(given, 2, found)
    budget, count = _amount(given["budget"], "budget"), common["count"]
    least = f"at least epsilon x {count} windows, at most {_BUDGET_MAX}"
    need(amount_of(epsilon) * count <= amount_of(budget), "budget", least, budget)
    strata = _strata(given.get("strata", []), 1, _LISTED_MAX - 1, ("title",))
    titles = {
        one["name"]: text_in(one["title"], "title of a stratum", 200)
        for one in given.get("strata", [])
        if "title" in one
    }
    groups = prod(len(values) + 1 for values in strata.values())
    need(groups <= _GROUPS_MAX, "strata", f"at most {_GROUPS_MAX} combinations, with those not told", groups)
    own_words = [name for name, values in strata.items() if NOT_TOLD in values]
    need(not own_words, "values of a stratum", f"others than {NOT_TOLD!r}, which is there already", own_words)
    return Task(
        **common,
        subject=subject,
        epsilon=epsilon,
        questions=found,
        strata={name: (NOT_TOLD, *values) for name, values in strata.items()},
        expires=common["opens"] + timedelta(common["days"] * count + 1),
        budget={"collector": budget},
        collector=text_in(collector["name"], "name of the collector", 200),
        key=key,
        url=_signed_url(collector["url"]) if "url" in collector else None,
        attempts=_whole(sending["attempts"], "attempts of sending", 1, _ATTEMPTS_MAX),
        send_days=_whole(sending["days"], "days of sending", 1, _SEND_DAYS_MAX),
        language=given["language"],
        translations=_translations(given, found, strata),
        purpose=text_in(given["purpose"], "purpose", _PURPOSE_MAX, prose=True) if "purpose" in given else None,
        results=_results(given),
        titles=titles,
        read=_READ,
    )


def _common(given: Mapping[str, Any], version: int, questions: Sequence[Question]) -> dict[str, Any]:
    """What tasks of all versions have."""
    need(
        len({question.name for question in questions}) == len(questions), "names of questions", "different", "two alike"
    )
    window = fields_of(given["window"], "window", ("opens", "days", "count"))
    days, count = _whole(window["days"], "days", 1, 3660), _whole(window["count"], "count", 1, 10_000)
    opens = _day(window["opens"], "opens")
    need(days * count < (date.max - opens).days + (version == 1), "window", "before the year 10000", window)
    memory = given["memory"]
    known = _MEMORIES[version]
    need(isinstance(memory, str) and memory in known, "memory", f"one of {', '.join(known)}", memory)
    keep = fields_of(given["retention"], "retention", ("keep",), ("days",))
    need(keep["keep"] in ("tally", "reports"), "retention", "tally or reports", keep["keep"])
    need((keep["keep"] == "reports") == ("days" in keep), "retention", "days with reports, and only then", keep)
    return {
        "version": version,
        "id": given["id"],
        "opens": opens,
        "days": days,
        "count": count,
        "min_batch": _whole(given["min_batch"], "min_batch", 1, 10**9),
        "memory": memory,
        "keep": keep["keep"],
        "keep_days": _whole(keep.get("days", 0), "days of retention", 0, 3660),
        "document": given,
    }


def _whole_question(document: object, own: Mapping[str, str], epsilon: float, proofs: _Proofs) -> Question:
    """A question of version 1, which has its design."""
    given = fields_of(document, "a question", ("name", "text", "design", "share"), ("labels",))
    share = _whole(given["share"], "share of a question", 1, SHARE_MAX)
    return _question(given, given["design"], share, own, epsilon, proofs)


def _part(
    documents: Sequence[object], design: Any, share: int, own: Mapping[str, str], epsilon: float, proofs: _Proofs
) -> Question:
    """What a part of the design asks: one question, or several together."""
    read = _text_question if len(documents) == 1 else _together
    return read(documents if len(documents) > 1 else documents[0], design, share, own, epsilon, proofs)


def _together(
    documents: Any, design: Any, share: int, own: Mapping[str, str], epsilon: float, proofs: _Proofs
) -> Question:
    """Questions that are asked together; the answers of the design are all sets of answers to them, and protected."""
    each = tuple(map(single_in, documents))
    name = ".".join(single.name for single in each)
    explanation = _proved(design, name, epsilon, proofs)
    return asked_together(each, design, explanation, share, own)


def _text_question(
    document: object, design: Any, share: int, own: Mapping[str, str], epsilon: float, proofs: _Proofs
) -> Question:
    """A question of version 2, which asks for the answers of a part of the design."""
    given = fields_of(document, "a question", ("name", "text", "none"), ("labels", "kind", *SHOWN))
    question = _question(given, design, share, own, epsilon, proofs)
    if question.none is not None:
        check_none(question)
    return question


def _question(
    given: Mapping[str, Any], design: Any, share: int, own: Mapping[str, str], epsilon: float, proofs: _Proofs
) -> Question:
    """`own` is what the question's key has beside text, design and labels."""
    name = given["name"]
    need(_fits(NAME, name), "name of a question", NAMED, name)
    text = text_in(given["text"], f"text of {name}", TEXT_MAX, prose=True)
    explanation = _proved(design, name, epsilon, proofs)
    proved = explanation.design
    return Question(
        name=name,
        text=text,
        share=share,
        design=design,
        explanation=explanation,
        key=digest({**own, "text": text, "design": design, "labels": given.get("labels")}),
        labels=_labels(given["labels"], name, proved.domain) if "labels" in given else proved.domain.names,
        none=given.get("none"),
        kind=kind_in(given["kind"], name) if "kind" in given else None,
        **shown_in(given, given.get("kind"), name),
    )


def _proved(design: Any, name: str, epsilon: float, proofs: _Proofs) -> Explanation:
    """What the design of a part may send; it promises no larger epsilon than the task."""
    plain = not isinstance(design, Mapping) or "parts" not in design
    need(plain, f"design of {name}", "without parts, of which each is a question of its own", design)
    explanation = proofs.of(design, name)
    if explanation.design.epsilon > epsilon:
        told = f"epsilon {explanation.design.epsilon:g}, more than the {epsilon:g} that the task says"
        raise PrivacyError(f"question {name} costs {told}; nothing is sent.")
    return explanation


def _results(given: Mapping[str, Any]) -> str:
    need(given.get("results", "public") == "public", "results", "public, or left out", given.get("results"))
    return str(given.get("results", "private"))


def _translations(
    given: Mapping[str, Any], questions: Sequence[Question], strata: Mapping[str, tuple[str, ...]]
) -> Mapping[str, Mapping[str, Any]]:
    """The texts in other languages, of the same shape."""
    told, more = given.get("translations", {}), ("purpose",) if "purpose" in given else ()
    need(isinstance(told, Mapping), "translations", "a mapping of languages to texts", told)
    found: Mapping[str, Any] = told
    for tag, texts in found.items():
        other = bool(_TAG.fullmatch(tag)) and tag != given["language"]
        need(other, "language of a translation", "a tag such as en or pt-BR, and not that of the task", tag)
        own = fields_of(texts, f"the translation {tag}", ("subject", "questions", *more), ("strata",))
        text_in(own["subject"], f"subject in {tag}", 200)
        if more:
            text_in(own["purpose"], f"purpose in {tag}", _PURPOSE_MAX, prose=True)
        parts = list_in(own["questions"], f"questions in {tag}", len(questions), len(questions))
        for question, together in zip(questions, parts, strict=True):
            each: Sequence[Question | Single] = question.together or (question,)
            words = list_in(together, f"questions of a part in {tag}", len(each), len(each))
            for one, told_of in zip(each, words, strict=True):
                check_translated(one, told_of, tag)
        groups = list_in(own.get("strata", []), f"strata in {tag}", 0, len(strata))
        need(len(groups) in (0, len(strata)), f"strata in {tag}", f"all {len(strata)}, or left out", groups)
        for (name, values), group in zip(strata.items() if groups else (), groups, strict=True):
            named = fields_of(group, f"a stratum in {tag}", ("title", "values"))
            text_in(named["title"], f"title of {name} in {tag}", 200)
            words = list_in(named["values"], f"values of {name} in {tag}", len(values), len(values))
            need_apart([text_in(word, f"a value of {name}", 200) for word in words], f"values of {name} in {tag}")
    return found


def _signed_url(given: object) -> str:
    """An address, in the form that it is compared in."""
    try:
        fits = checked_url(given) == given
    except ParameterError as error:
        raise FormatError(f"collector of a task: {error.message}", error.hint) from error
    need(fits, "url", "in small letters up to the path, without a / at its end", given)
    return str(given)


def _characters(document: object) -> int:
    """Code points of all texts that people may read: those in a document, but not inside of kernels."""
    count, stack = 0, [document]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            count += len(part)
        elif isinstance(part, Mapping):
            stack += [inner for name, inner in part.items() if name != "kernel"]
        elif isinstance(part, list):
            stack += part
    return count


def _labels(given: object, name: str, domain: Domain) -> tuple[str, ...]:
    """Labels that a task gives to the answers of a design which has numbers only."""
    where = f"labels of {name}"
    need(
        domain.names is None and domain.border is None,
        where,
        "left out, since its design says what answers are",
        given,
    )
    return check_labels(list_in(given, where, domain.answers, domain.answers), name)


def _strata(given: object, least: int, most: int, more: tuple[str, ...] = ()) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for entry in list_in(given, "strata", 0, _STRATA_MAX):
        stratum = fields_of(entry, "a stratum", ("name", "values"), more)
        name, values = stratum["name"], list_in(stratum["values"], "values of a stratum", least, most)
        need(
            _fits(NAME, name) and name not in found,
            "name of a stratum",
            "small letters, digits, - or _, and no other's",
            name,
        )
        texts = [text_in(value, f"a value of {name}", 200) for value in values]
        need_apart(texts, f"values of {name}")
        found[name] = tuple(texts)
    return found


def _fits(form: re.Pattern[str], given: object) -> bool:
    return isinstance(given, str) and form.fullmatch(given) is not None


def _amount(given: object, where: str) -> float:
    fits = is_number(given) and _LEAST <= given <= _BUDGET_MAX  # type: ignore[operator]  # it is a number
    need(fits, where, f"a number from {_LEAST:g} to {_BUDGET_MAX}", given)
    return given  # type: ignore[return-value]  # it is a number


def _whole(given: object, where: str, least: int, most: int) -> int:
    need(is_whole(given, least, most), where, f"a whole number from {least} to {most}", given)
    return int(given)  # type: ignore[call-overload, no-any-return]  # it is a whole number, perhaps written 1.0


def _day(given: object, where: str) -> date:
    usual = "a day such as 2026-11-16"
    need(isinstance(given, str) and bool(_DAY.fullmatch(given)), where, usual, given)
    try:
        return date.fromisoformat(given)  # type: ignore[arg-type]  # it is a text
    except ValueError as error:
        raise FormatError(f"{where} of a task must be {usual}, got {show(given)}.") from error
