"""What a hostile server might send: refused by kind, before anything is drawn, in little time."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.entry import KEY_VALUE
from deniable.mechanisms.registry import MECHANISMS
from deniable_client import Device, FormatError, ParameterError, PrivacyError, ReplayWords, explain
from deniable_client.grammar import FORMS
from deniable_client.kernels import KERNELS, kernel_from
from deniable_client.kernels.contract import Disclosing
from optimal.promises import beyond

FOLDER = Path(__file__).parents[2] / "clients" / "vectors"
VECTORS = json.loads((FOLDER / "hostile.json").read_text())
CASES = VECTORS["cases"]
KINDS = {"format": FormatError, "privacy": PrivacyError}
WORD = 1 << 64
LABELS = ["flu", "hiv", "none", "cold"]
PLAIN = [name for name, row in MECHANISMS.items() if row.question != KEY_VALUE and not hasattr(row.cls, "sensitive")]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"][:60].encode("ascii", "replace").decode())
def test_every_hostile_document_is_refused_by_kind(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.urandom", lambda size: pytest.fail("a word was drawn"))
    start = time.process_time()
    with pytest.raises(KINDS[case["error"]]):
        Device(case["design"], harmless=case["harmless"])
    assert time.process_time() - start < 1
    if case["error"] == "format":  # whoever reads reports is no more credulous
        with pytest.raises(FormatError):
            dn.from_design(case["design"])


@pytest.mark.parametrize("case", VECTORS["good"], ids=lambda case: str(case["about"]))
def test_the_good_designs_among_them_are_taken(case: dict[str, Any]) -> None:
    """Most hostile documents are one of these with one thing changed, so that thing alone is why they are refused."""
    device = Device(case["design"], harmless=case["harmless"])
    assert len(device.report(*good_value(case["design"]))) == device.kernel.width


def good_value(design: dict[str, Any]) -> tuple[Any]:
    if design["kernel"]["kind"] == "pairs":
        return ([(0, 1)],)
    if "ticks" in design["domain"]:
        return ([],)
    return (design["domain"].get("labels", [1])[0],)


def shapes(document: dict[str, Any]) -> Iterator[tuple[str, ...]]:
    """The kinds of a kernel's parts, each with the way to it."""
    for name, value in document.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from ((document["kind"], name, *rest) for rest in shapes(part))
    yield (document["kind"],)


def allowed(form: Any) -> Iterator[tuple[str, ...]]:
    for kind, fields in form.items():
        yield (kind,)
        for name, inner in fields.items():
            yield from ((kind, name, *rest) for rest in allowed(inner))


def test_the_grammar_is_neither_narrower_nor_wider_than_the_registry() -> None:
    """Small cases of every row, and every base of `utility`, take all its ways, and it has no others than these."""
    assert set(FORMS) == set(MECHANISMS)
    assert {cls.version for cls in (row.cls for row in MECHANISMS.values())} == {1}
    unseen = {name: set(allowed(form.kernel)) for name, form in FORMS.items()}
    for name, row in MECHANISMS.items():
        for case in row.small:
            design = json.loads(json.dumps(dn.mechanism(name, **case).design))
            unseen[name] -= set(shapes(design["kernel"]))
            if case.get("sensitive") == 0:
                with pytest.raises(PrivacyError, match="this design protects no answer"):
                    Device(design, harmless=range(case["k"]))
                continue
            assert Device(design, harmless=explain(design).harmless).kernel == kernel_from(design["kernel"])
            if ("plain" in row.best_for) or any(name == base for base in PLAIN):
                unseen["utility"] -= {("utility", "base", *way) for way in shapes(design["kernel"])}
    told = dn.mechanism("privkv", epsilon=1.0, k=3, told=(1, 2, 3)).design
    unseen["privkv"] -= set(shapes(told["kernel"]))
    Device(told)
    cyclic = dn.mechanism("kv-ss", epsilon=1.0, k=4, mix=0.0, encoding="cyclic").design
    unseen["kv-ss"] -= set(shapes(cyclic["kernel"]))
    Device(cyclic)
    assert {name: ways for name, ways in unseen.items() if ways} == {}


def test_every_kernel_has_its_amount_of_work() -> None:
    assert [kind for kind, made in KERNELS.items() if not hasattr(made, "words")] == []


def test_only_kernels_that_protect_all_values_have_a_ratio() -> None:
    """What would forget a disclosure asks for `ratio`: kernels that disclose do not have it."""
    disclosing = {kind for kind, made in KERNELS.items() if issubclass(made, Disclosing)}  # type: ignore[arg-type]
    assert disclosing == {"utility", "utility-levels", "personal", "dealt", "channel"}
    assert {kind for kind, made in KERNELS.items() if not hasattr(made, "ratio")} == disclosing


# ---- consent, and what is said before it


def uss(**more: Any) -> dict[str, Any]:
    return dict(dn.mechanism("uss", epsilon=1.0, labels=LABELS, sensitive="flu,hiv", **more).design)


def test_consent_is_for_exactly_the_labels_that_may_be_disclosed() -> None:
    design = uss()
    with pytest.raises(PrivacyError, match=r"may disclose 'none', 'cold', and consent was given for none"):
        Device(design)
    with pytest.raises(PrivacyError, match="consent was given for 'none'; no report was made"):
        Device(design, harmless=["none"])
    with pytest.raises(ParameterError, match="harmless must be a list of this question's labels, got 'nope'"):
        Device(design, harmless=["none", "cold", "nope"])
    for wrong in ("none", 3, b"none"):
        with pytest.raises(ParameterError, match="harmless must be a list of answers"):
            Device(design, harmless=wrong)  # type: ignore[arg-type]
    assert len(Device(design, harmless=["cold", "none"]).report("flu")) == 2


def test_consent_by_number_or_by_range() -> None:
    design = dn.mechanism("uss", epsilon=1.0, k=6, sensitive="1,2").design
    assert explain(design).harmless == (range(1), range(3, 6))
    for consent in ([0, 3, 4, 5], [range(3, 6), 0], explain(design).harmless):
        Device(design, harmless=consent)
    for consent in ([0, 3, 4], range(3, 6), [range(7)], [range(0, 6, 2)]):
        with pytest.raises((PrivacyError, ParameterError)):
            Device(design, harmless=consent)


LINE = {"interval": [0, 1000], "points": 4, "layout": "midpoints", "clip": True}
STEPS = {"interval": [0, 1000], "codes": [1, 2, 3, 900], "clip": False}
ENDS = {"interval": [0, 900], "points": 4, "layout": "endpoints", "clip": False}


@pytest.mark.parametrize(
    ("domain", "cell"), [(LINE, (500.0, 1000.0)), (STEPS, (2.5, 1000.0)), (ENDS, (450.0, 900.0))], ids=str
)
def test_consent_to_numbers_is_in_numbers(domain: dict[str, Any], cell: tuple[float, float]) -> None:
    """Not in numbers of answers, which the server chooses: 2 and 3 here."""
    design = json.loads(json.dumps(dn.mechanism("urr", epsilon=1.0, k=4, sensitive=2).design)) | {"domain": domain}
    found = explain(design)
    assert found.harmless == (cell,)
    assert f"Not protected: numbers from {cell[0]:g} to {cell[1]:g}." in str(found)
    device = Device(design, harmless=[list(cell)])
    named = {device.report(v)[0] for v in (cell[0] + 1, cell[1]) for _ in range(60)} - {0}
    assert named <= {1, 2}
    assert named
    assert {device.report(cell[0])[0] for _ in range(60)} == {0}
    for wrong in ([2, 3], [range(2, 4)], [cell[0]], [(cell[0], cell[1] - 1)], [(cell[0] + 1, cell[1])], [(1,)], ["x"]):
        with pytest.raises(ParameterError, match="pairs"):
            Device(design, harmless=wrong)
    with pytest.raises(PrivacyError, match="consent was given for numbers from 0 to"):
        Device(design, harmless=[(0, cell[0])])


def test_every_answer_that_may_be_named_is_in_the_text() -> None:
    labels = [f"ok{i}" for i in range(30)] + ["positive", "s1", "s2"]
    found = explain(dn.mechanism("urr", epsilon=1.0, labels=labels, sensitive="s1,s2").design)
    assert all(f"'{label}'" in str(found) for label in labels[:-2])


def test_what_an_empty_answer_counts_as_is_said_with_its_protection() -> None:
    design = dn.mechanism("urr", epsilon=1.0, k=4, sensitive=2).design
    labelled = dict(design) | {"domain": {"labels": ["a", "b", "HIV", "none"], "missing": "HIV", "other": "a"}}
    text = str(explain(labelled))
    assert "If you leave the answer empty, that is reported as 'HIV', which is not protected." in text
    assert text.endswith("Anything else is reported as 'a'.")


@pytest.mark.parametrize("twin", ["HIV ", "HIV\u3164", "H\u200bIV", "\uff28IV", "HIV\ufe0f"])
def test_labels_that_look_alike_are_refused(twin: str) -> None:
    design = dict(dn.mechanism("grr", epsilon=1.0, k=2).design) | {"domain": {"labels": ["HIV", twin]}}
    with pytest.raises(FormatError, match="texts that people can see and tell apart"):
        Device(design)
    with pytest.raises(dn.ParameterError, match="texts that people can see and tell apart"):
        dn.mechanism("grr", epsilon=1.0, labels=["HIV", twin])


def test_values_without_a_text_are_refused_in_words_and_stood_in_for() -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    design = dn.mechanism("grr", epsilon=1.0, k=2).design
    for value in (10**5000, deep):
        with pytest.raises(ParameterError, match="got a value of type"):
            Device(design).report(value)
        assert len(Device(design, stand_in=0).report(value)) == 1


def test_numbers_beyond_all_bounds_are_clipped_where_the_design_says_so() -> None:
    design = json.loads(json.dumps(dn.mechanism("grr", epsilon=1.0, k=4).design)) | {"domain": LINE}
    device = Device(design)
    for value, answer in ((10**400, 3), (-(10**400), 0), (float("inf"), 3), (1 << 64, 3)):
        assert device.report(value, ReplayWords([0])) == bytes([answer])
    with pytest.raises(ParameterError, match="got nan"):
        device.report(float("nan"))


def test_a_document_that_changes_after_the_check_changes_nothing() -> None:
    design = json.loads(json.dumps(dn.mechanism("pckv-grr", epsilon=1.0, k=3, range="0,10").design))
    device = Device(design)
    before = [device.report([(1, v)], ReplayWords([0, 1 << 62, 0])) for v in (0, 4, 10)]
    design["params"]["range"][:] = [0, 0]
    design["kernel"]["base"]["keep"] = str(WORD - 1)
    assert [device.report([(1, v)], ReplayWords([0, 1 << 62, 0])) for v in (0, 4, 10)] == before


def test_several_keys_that_are_none_of_the_list_count_as_one() -> None:
    domain = dn.Domain.of(["x", "y", "z"], other="z")
    device = Device(dn.mechanism("pckv-grr", epsilon=1.0, domain=domain, length=2).design)
    words = [0, 0, 0, 0]
    assert device.report([("q", 1), ("r", 1)], ReplayWords(words)) == device.report([("z", 1)], ReplayWords(words))
    with pytest.raises(ParameterError, match="different keys"):
        device.report([("x", 1), ("x", 0)])


def test_a_billion_harmless_answers_are_not_listed() -> None:
    design = json.loads(json.dumps(dn.mechanism("urr", epsilon=1.0, k=9, sensitive="5,6,7").design))
    design["domain"]["k"], design["kernel"]["k"] = 1 << 32, str(1 << 32)
    found = explain(design)
    assert found.harmless == (range(5), range(8, 1 << 32))
    assert "Not protected: 0 to 4, 8 to 4294967295." in str(found)
    assert len(Device(design, harmless=found.harmless).report(6)) == 5


def test_explanations_are_those_of_the_enumerated_channel() -> None:
    """For every small case: who may be named, with which chance, and how telling all other reports are."""
    named = 0
    for name, row in MECHANISMS.items():
        for case in row.small[:4]:
            m = dn.mechanism(name, **case)
            found, channel = explain(m.design), m.channel()
            assert found.epsilon == channel.proof().epsilon
            if "k" in m.design["domain"] and m.bulk.inputs == m.k:  # answers by number, no pairs
                for x in range(m.k):
                    weight = sum(channel.weights[output][x] for output in beyond(channel, x, m.epsilon))
                    assert found.chance_of(x) == Fraction(weight, channel.total)
                    named += weight > 0
            assert (found.chance > 0) == bool(found.harmless)
    assert named > 50


# ---- values that are none


def test_missing_and_other_count_as_the_domain_says() -> None:
    labels = dn.Domain.of(["yes", "no", "none", "else"], missing="none", other="else")
    device = Device(dn.mechanism("grr", epsilon=1.0, domain=labels).design)
    for value in ("no", None, "", float("nan"), "maybe", 7, "else"):
        assert device.report(value, ReplayWords([0])) == bytes(labels.encode([value]).tolist())
    assert "If you leave the answer empty, that is reported as 'none'." in str(device.explain())
    assert "Anything else is reported as 'else'." in str(device.explain())


def test_a_stand_in_hides_that_a_value_is_none_of_the_answers() -> None:
    design = dn.mechanism("grr", epsilon=1.0, labels=["yes", "no"]).design
    with pytest.raises(ParameterError, match="'maybe' is not one of this question's 2 labels"):
        Device(design).report("maybe")
    device = Device(design, stand_in="no")
    assert [device.report(value, ReplayWords([0])) for value in ("yes", "maybe", None)] == [b"\0", b"\1", b"\1"]
    with pytest.raises(ParameterError, match="'maybe' is not one of"):
        Device(design, stand_in="maybe")
    pairs = dn.mechanism("kv-ss", epsilon=1.0, k=4, length=2).design
    with pytest.raises(ParameterError, match="from -1 to 1, got 9"):
        Device(pairs).report([(0, 9)])
    assert len(Device(pairs, stand_in=[]).report([(0, 9)])) == len(Device(pairs).report([(0, 1)]))


def test_the_most_protective_level_is_the_default() -> None:
    design = dn.mechanism("pldp", k=2, levels="0.1,8", base="lh", level_report="none").design
    device = Device(design)
    low, high = (kernel.keep for kernel in device.kernel.data)
    between = [3, (low + high) // 2, 0, WORD - 1]  # a seed, and a word that decides differently at the two levels
    own, loose = (device.report(1, ReplayWords(between), level=level) for level in (None, 8.0))
    assert own != loose == device.report(1, ReplayWords([3, 0]))
    swapped = copy.deepcopy(dict(design)) | {"params": {**design["params"], "levels": [8.0, 0.1]}}
    with pytest.raises(FormatError, match="2 numbers that rise, the most protective first"):
        Device(swapped)
