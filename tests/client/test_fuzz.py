"""What a device accepts is gone through exactly, by a checker that knows nothing of the proofs."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

import deniable as dn
from deniable.mechanisms.registry import MECHANISMS
from deniable_client import Device, PrivacyError, explain
from deniable_client.grammar import FORMS
from deniable_client.kernels import (
    Grouped,
    Laplace,
    Leaning,
    Pairs,
    Response,
    Utility,
    UtilityBudgets,
    contract,
    kernel_from,
    keyvalue,
    personal,
    promised_ratio,
)
from deniable_client.words import below
from fuzz import designs, inside, large, truth

WORD = 1 << 64
ROOT = Path(__file__).parents[2]
SEEDS = range(1, 9)
"""Seeds of hash functions, some of which tell two values apart."""


# ---- the checker itself


def test_every_word_is_counted() -> None:
    """Comparisons and numbers below n have their exact chances, whatever is asked of a word first."""
    assert truth.law(lambda words: words.word() < 5, truth.Paths(0)) == {
        True: Fraction(5, WORD),
        False: Fraction(WORD - 5, WORD),
    }

    def third(words: Any) -> int:
        word = words.word()
        return 0 if word < 7 else 1 if word < 9 else 2

    assert truth.law(third, truth.Paths(0)) == {0: Fraction(7, WORD), 1: Fraction(2, WORD), 2: Fraction(WORD - 9, WORD)}
    for n in (1, 2, 3, 7, 40):
        assert truth.law(lambda words, n=n: below(n, words), truth.Paths(0)) == {i: Fraction(1, n) for i in range(n)}
    assert truth.law(lambda words: below(1 << 32, words) < 3, truth.Paths(0))[True] == Fraction(3, 1 << 32)


def test_a_biased_draw_is_seen() -> None:
    """Without drawing again, numbers below n would not be alike."""

    def careless(words: Any) -> int:
        product = words.word() * 3
        assert product % WORD >= 0
        return product >> 64

    assert truth.law(careless, truth.Paths(0))[0] == Fraction(WORD // 3 + 1, WORD)


def test_pairs_in_one_go_or_in_two() -> None:
    """A person's law is that of the key that is drawn, then of what is sent of it: the same as in one go."""
    for length in (0, 1, 2):
        kernel = Pairs(Response(2 * (2 + length), WORD // 3), 2, length)
        for person, told in truth.pairs_channel(kernel, 5).items():
            assert told == truth.law(lambda words, p=person, k=kernel: k.randomise(p, words), truth.Paths(5))


def test_noise_without_end_has_the_law_of_its_formula() -> None:
    """Two-sided geometric noise without a grid, the rest beyond the reach."""
    kernel, again = Laplace(2, WORD // 3, 0, 2, 1, 1), Fraction(WORD // 3, WORD)
    with truth.finite_noise():
        told = truth.law(lambda words: kernel._noise(words), truth.Paths(0))
    norm = (1 - again) / (1 + again)
    assert {n: told[n] for n in (-2, -1, 0, 1, 2)} == {n: norm * again ** abs(n) for n in (-2, -1, 0, 1, 2)}
    assert sum(told.values()) == 1


def lowered(design: dict[str, Any], kernel: Any, factor: float) -> dict[str, Any]:
    """The same design, promising a little more or less than what its integers claim."""
    params = dict(design["params"])
    if "levels" in params:
        params["levels"] = [math.log(promised_ratio(data)) * factor for data in kernel.data]
    if "item_epsilon" in params:
        params["item_epsilon"] = [math.log(r) * factor for r in kernel.item_ratios(params["item_epsilon"])]
    return {**design, "epsilon": math.log(promised_ratio(kernel)) * factor, "params": params}


@pytest.mark.parametrize("name", sorted(FORMS))
def test_a_millionth_too_much_is_seen(name: str) -> None:
    """For a design of every mechanism: its claim holds, and would not if it were lower by a millionth."""
    design = dict(dn.mechanism(name, **MECHANISMS[name].small[-1 if name == "she" else 0]).design)
    kernel, told = kernel_from(design["kernel"]), explain(design).disclosed
    named = [x for start, end in zip(told[::2], told[1::2], strict=True) for x in range(start, end)]
    assert truth.broken(lowered(design, kernel, 1 + 1e-9), kernel, named, SEEDS) == ""
    assert truth.broken(lowered(design, kernel, 1 - 1e-6), kernel, named, SEEDS) != ""
    if named:
        assert truth.broken(design, kernel, [], SEEDS) != ""


# ---- wrong proofs


def _unsigned_keys(lift: Fraction, size: int, keys: int, length: int) -> Fraction:
    return RIGHT_KEYS(max(lift, 1 / lift), size, keys, length)


def _without_none(s: Fraction, r: Fraction, a: Fraction) -> Fraction:
    return max(2 * s / a, 2 * r / a, (1 - s - r) / (1 - a)) * max(a / (2 * s), a / (2 * r))


RIGHT_KEYS = keyvalue._padded_keys
WRONG: list[tuple[str, Any, str, Any]] = [
    ("grr", contract.Base, "ratio", property(lambda kernel: max(kernel.lift, 1 / kernel.lift, Fraction(2)) / 2)),
    ("kv-ss", keyvalue, "_padded_keys", _unsigned_keys),
    ("kv-ss", Grouped, "padded", lambda kernel, keys, length: keyvalue.padded_ratio(kernel.first, keys, length)),
    ("ks-ue", keyvalue, "signed_ratio", _without_none),
    ("pckv-grr", keyvalue, "_padded_sets", lambda lift, size, length: max(1 + (lift - 1) / length, Fraction(1))),
    ("urr", Utility, "hidden_ratio", property(lambda kernel: kernel.base[0].ratio if kernel.base else Fraction(1))),
    ("uss", contract.Base, "blind_peak", property(lambda kernel: Fraction(kernel.keep, WORD) / kernel.share)),
    ("duchi", Leaning, "ratio", property(lambda k: Fraction(k.base + (k.k - 1) * k.slope, k.base))),
    ("she", Laplace, "shift", property(lambda kernel: Fraction(WORD, kernel.again))),
    ("pldp", personal.Bit, "ratio", property(lambda bit: Fraction(max(bit.chances), min(bit.chances)))),
    ("pldp", personal, "largest", lambda one, two: 0.0),
    ("upldp", personal, "other_value", lambda one, two: 0.0),
    (
        "uue-levels",
        UtilityBudgets,
        "_farthest",
        lambda kernel, flip, other: Fraction(kernel.keep, flip),
    ),
]


@pytest.mark.parametrize(("name", "where", "what", "wrong"), WRONG, ids=[f"{row[0]}-{row[2]}" for row in WRONG])
def test_a_wrong_proof_is_found_out(
    name: str, where: Any, what: str, wrong: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Among at most 300 random designs of a mechanism, where the right proof has none."""

    def first(seed: int) -> int | None:
        fuzzer = designs.Fuzzer(Random(seed), core=False)
        for i in range(300):
            design = inside.design(fuzzer.rng, name)
            fuzzer.try_one("inside", design, *designs.consent(design))
            if fuzzer.figures.faults["understated"]:
                return i
            if right and i >= 10:
                break
        return None

    right = True
    assert first(4) is None
    monkeypatch.setattr(where, what, wrong)
    right = False
    assert first(4) is not None


# ---- the fuzzer


def sound(figures: designs.Figures) -> None:
    assert not figures.shown
    assert sum(figures.faults.values()) == 0


def test_stored_documents_are_refused() -> None:
    """Whatever once broke something, and all hostile vectors."""
    fuzzer = designs.Fuzzer(Random(1), core=False)
    designs.replay(fuzzer, heavy=False)
    sound(fuzzer.figures)
    assert sum(fuzzer.figures.refused.values()) == sum(fuzzer.figures.tried.values()) >= 190


def test_random_designs_keep_what_they_promise_or_are_refused() -> None:
    """A small run of the fuzzer; the large one is below."""
    fuzzer = designs.Fuzzer(Random(2))
    shares = {"inside": 0.2, "mutated": 0.38, "outside": 0.4, "grown": 0.02}
    for _ in designs.run(fuzzer, 1500, shares):
        pass
    sound(fuzzer.figures)
    told = fuzzer.figures.told()
    assert told["gone through"] > 150
    assert fuzzer.figures.too_large["inside"] + fuzzer.figures.too_large["mutated"] < 10
    assert told["refused by error"]["FormatError"] > 800
    assert told["refused by error"]["PrivacyError"] > 80


def test_an_accepted_design_that_should_not_be_is_a_fault() -> None:
    """The fuzzer tells a document outside the grammar, a slow check and a raw exception from what is fine."""
    good = {"mechanism": "grr", "version": 1, "epsilon": 1.0, "domain": {"k": 2}, "params": {}}
    good["kernel"] = {"kind": "response", "k": "2", "keep": "13485650502877570762"}
    fuzzer = designs.Fuzzer(Random(1), core=False)
    fuzzer.try_one("outside", good, [], [])
    assert fuzzer.figures.faults == {"accepted outside the grammar": 1}
    with pytest.raises(PrivacyError):
        Device(good, harmless=[0])


@pytest.mark.slow
@pytest.mark.turns(4)
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_two_hundred_thousand_designs(seed: int) -> None:
    """The command in a process of its own, so that memory is its own: about two minutes for each of four parts."""
    command = [sys.executable, str(ROOT / "tests" / "fuzz" / "designs.py"), "--json", "--count", "50000"]
    done = subprocess.run([*command, "--seed", str(seed)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    told = json.loads(done.stdout)
    assert told["tried"] > 50_000
    assert told["accepted"] > 2000
    assert told["gone through"] > 2000
    assert told["understated"] == told["raw exceptions"] == told["accepted outside the grammar"] == 0
    assert told["largest memory, MiB"] < 1000


# ---- the largest designs


def test_consent_takes_no_longer_for_many_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter of a million labels, all but two of them harmless: once for each, not for each two of them."""
    about, document, harmless = next(case for case in large.heavy() if case[0] == "many harmless labels")
    fuzzer = designs.Fuzzer(Random(1), core=False)
    fuzzer.try_one("heavy", document, harmless, [])
    assert fuzzer.figures.accepted == {"heavy": 1}, about
    sound(fuzzer.figures)
