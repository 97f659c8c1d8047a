"""The command that attacks one's own set-up: guessing values from their reports."""

from __future__ import annotations

from typing import Annotated, Any

from deniable.cli.options import Choice, option
from deniable.cli.output import Output
from deniable.present.tables import Table, facts_table, number

__all__ = ["attack"]

_PEOPLE = 10**9
"""How finely a made-up prior is divided."""


def attack(
    choice: Choice,
    out: Output,
    prior: Annotated[
        str,
        option(
            "--prior",
            "NAME",
            "What the attacker knows beforehand: uniform, zipf[:s], normal[:s], dirichlet[:a], or a data set.",
        ),
    ] = "uniform",
    reports: Annotated[int, option("--reports", "R", "Reports that are drawn and attacked.")] = 20_000,
    seed: Annotated[int, option("--seed", "S", "Seed of the simulation.")] = 0,
) -> None:
    """Guess values from their reports, as well as anyone can.

    The best possible guess under a prior: how often it is right by the closed form and in a simulation, beside the best
    guess without any report.

    Example: deniable attack oue --epsilon 2 --k 100 --prior zipf
    """
    from deniable.audit.reconstruction import attack as run
    from deniable.core.domain import Domain
    from deniable.datasets import resolve
    from deniable.datasets.tables import NAMES
    from deniable.randomness import simulation

    own = bool({"k", "labels", "labels_file"} & set(choice.domain_given)) or choice.brings_domain or prior not in NAMES
    m = choice.make() if own else choice.make(Domain.of(resolve(prior).labels))
    people = resolve(prior) if prior in NAMES else resolve(prior, n=_PEOPLE, k=m.k, rng=simulation(seed).spawn(1)[0])
    out.note(f"attacking {reports} reports of {m.name} under the prior {prior}, seed {seed}")
    found = run(m, prior=None if prior == "uniform" else people.frequencies, reports=reports, seed=seed)
    document = {**found.document(), "prior": prior}
    out.show(document, _table(document))


def _table(d: dict[str, Any]) -> Table:
    own = "".join(f", {name} = {value}" for name, value in d["params"].items())
    measured = "not measured: the likelihood of its reports is not known"
    if d["measured"] is not None:
        measured = f"share of {d['reports']:,} simulated reports whose value was guessed ± standard error"
    share = "" if d["measured"] is None else f"{d['measured']:.4g} ± {d['measured_stderr']:.2g}"
    rows = [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, k = {d['k']:,}{own}"),
        ("prior", d["prior"], "what the attacker knows before any report"),
        ("blind guess", number(d["blind"], 4), "chance that the best guess without a report is right"),
        ("asr", number(d["asr"], 4), f"with a report: {d['lift']:.3g} times as often"),
        ("gain", number(d["gain"], 4), "what a report adds"),
        ("measured", share, measured),
    ]
    return facts_table(rows)
