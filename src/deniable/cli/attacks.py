"""The command that attacks one's own set-up: guessing values from their reports."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from deniable.cli.options import Choice, option
from deniable.cli.output import Output
from deniable.datasets.synthetic import KINDS
from deniable.datasets.tables import NAMES
from deniable.errors import require
from deniable.present.tables import Table, facts_table, number, parameters
from deniable.run.given.priors import PRIOR, domain_of_prior, read_prior

__all__ = ["attack"]


def attack(
    choice: Choice,
    out: Output,
    prior: Annotated[
        str, option("--prior", "NAME", f"What the attacker knows beforehand: {PRIOR}.", (*NAMES, *KINDS))
    ] = "uniform",
    tuned: Annotated[
        bool, option("--tuned", None, "The design is chosen for this prior, too (ass, aue, alh, athe, ssmix).")
    ] = False,
    target: Annotated[
        str,
        option(
            "--target",
            "value|level",
            "What is guessed: the value, or the level that a person chose (pldp), the value being known.",
        ),
    ] = "value",
    reports: Annotated[int, option("--reports", "R", "Reports that are drawn and attacked.")] = 20_000,
    seed: Annotated[int, option("--seed", "S", "Seed of the simulation.")] = 0,
) -> None:
    """Guess values from their reports, as well as anyone can.

    The best possible guess under a prior: how often it is right by the closed form and in a simulation, beside the best
    guess without any report. With personal budgets it can be the chosen level that is guessed, beside the bound that
    the promise gives.

    Example: deniable attack oue --epsilon 2 --k 100 --prior zipf
    """
    from deniable.audit.reconstruction import attack as run
    from deniable.audit.reconstruction import check_size

    if tuned:
        hint = "Only ass, aue, alh, athe and ssmix are chosen for a prior."
        require("prior" in choice.entry.options, "tuned", choice.name, "left out for this mechanism", hint)
        choice = replace(choice, options={**choice.options, "prior": prior})
    m = choice.make(None if choice.domain_stands else domain_of_prior(prior))
    check_size(m)
    known = read_prior(prior, m.domain, seed)
    announcement = f"attacking {reports} reports of {m.name} under the prior {prior}, seed {seed}"
    with out.progress("attacking", announcement) as progress:
        found = run(m, prior=known, target=target, reports=reports, seed=seed, progress=progress)
    document = {**found.document(), "prior": prior}
    out.show(document, _table(document))


def _table(d: dict[str, Any]) -> Table:
    own = f", {parameters(d['params'])}".removesuffix(", ")
    what = d.get("target", "value")
    measured = "not measured: the likelihood of its reports is not known"
    if d["measured"] is not None:
        measured = f"share of {d['reports']:,} simulated reports whose {what} was guessed ± standard error"
    share = "" if d["measured"] is None else f"{d['measured']:.4g} ± {d['measured_stderr']:.2g}"
    rows = [
        ("mechanism", d["mechanism"], f"epsilon = {d['epsilon']:g}, k = {d['k']:,}{own}"),
        ("prior", d["prior"], "what the attacker knows before any report"),
        ("blind guess", number(d["blind"], 4), "chance that the best guess without a report is right"),
        ("asr", number(d["asr"], 4), f"with a report: {d['lift']:.3g} times as often"),
        ("gain", number(d["gain"], 4), "what a report adds"),
        ("measured", share, measured),
    ]
    if what == "level":
        told = [
            (
                "level report",
                number(d["level_report"], 4),
                "with the level report alone, which is what its budget is for",
            ),
            ("bound", number(d["bound"], 4), "the most that the promise about levels allows, whatever the reports are"),
        ]
        rows[4:4] = told
        rows[1:1] = [("target", what, "of protection, guessed by someone who knows the value and the levels' shares")]
    return facts_table(rows)
