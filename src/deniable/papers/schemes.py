"""The schemes that the papers name, under their names: which mechanism here is one, and which can only be simulated.

What sends reports of its own is a mechanism or protocol of the registry, as printed with `form=paper`. What the PLDP
paper compares with has no text of its own at hand, or reads what nobody may send: these are reconstructions, protocols
that are simulated only. `try_scheme` simulates them on the counts alone, as the paper's figures do, and what the
authors' program computes.

>>> find("L-SRR").call
'dn.mechanism("lsrr", form="paper", ...)'
>>> find("ppda").kind
'reconstruction'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deniable.datasets.population import Population
from deniable.errors import ParameterError, meant, require
from deniable.papers.evidence import Sampled
from deniable.papers.pldp.study import LEVELS, power_law, study, uniform_shares
from deniable.randomness import simulation

__all__ = ["KINDS", "SCHEMES", "find", "try_scheme"]

KINDS = ("as printed", "as coded", "reconstruction", "the same")
"""By the paper's text; by its authors' published program; from what another paper says of it; another name."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme by the name that a paper gives it."""

    name: str
    paper: str
    kind: str
    what: str
    call: str
    """How it is had."""
    method: str = ""
    """Its name in simulations of personal levels, if it can be simulated only."""


def _pldp(name: str, kind: str, what: str, method: str) -> Scheme:
    row = f'dn.protocol("{name.lower()}", ...)'
    counted = f'deniable.papers.schemes.try_scheme("{name.lower()}", ...)'
    return Scheme(name, "PLDP", kind, what, counted if kind == "as coded" else row, method)


def _row(name: str, paper: str, what: str, call: str, kind: str = "as printed") -> Scheme:
    return Scheme(name, paper, kind, what, call)


_ALL = (
    _pldp("PPDA", "reconstruction", "unary reports with a zero bit for each value; no level is sent", "ppda"),
    _pldp("RCF", "reconstruction", "levels are public; estimates of all levels, by their variances", "rcf"),
    _pldp(
        "APLDP", "reconstruction", "levels are public; the better of two protocols at each of them", "apldp adaptive"
    ),
    _pldp("PBP", "reconstruction", "the shares of the levels are public (Eq. 3)", "pbp"),
    _pldp("AUEM", "as printed", "shares of the levels are estimated (Eq. 3 and 4), without a guard", "auem"),
    _pldp("AUEM-coded", "as coded", "the authors' program: levels told by unary encoding", "auem as coded"),
    _pldp("EMOA", "as printed", "Algorithm 1 with Eq. 15, divided by its sum", "emoa normalised"),
    _pldp("EMOA-coded", "as coded", "where the authors' program ends; it reads no level", "emoa as coded"),
    _row("BRR-Algorithm-2", "BRR", "m such that no value loses", 'dn.mechanism("brr", form="paper", ...)'),
    _row("BRR-Algorithm-3", "BRR", "m by closed form on a line", 'dn.mechanism("brr", rule="alg3", points=N, ...)'),
    _row("L-SRR", "BRR", "refused where it is not private", 'dn.mechanism("lsrr", form="paper", ...)'),
    _row("Exponential", "BRR", "half of the budget on a line", 'dn.mechanism("exponential", form="paper", ...)'),
    _row("ASS", "AdaptiveLDP", "by the authors' objectives", 'dn.mechanism("ass", form="paper", ...)'),
    _row("AUE", "AdaptiveLDP", "by the authors' objectives and grid", 'dn.mechanism("aue", form="paper", ...)'),
    _row("ALH", "AdaptiveLDP", "by the authors' objectives", 'dn.mechanism("alh", form="paper", ...)'),
    _row("ATHE", "AdaptiveLDP", "by the authors' objectives and grid", 'dn.mechanism("athe", form="paper", ...)'),
    _row("uSS", "ULDP", "GLUTF on subset selection", 'dn.mechanism("uss", form="paper", ...)'),
    _row("uUE", "ULDP", "GLUTF on unary encoding", 'dn.mechanism("uue", form="paper", ...)'),
    _row("uLH", "ULDP", "not private: audit only", 'dn.mechanism("ulh", form="paper", ...)'),
    _row("uWheel", "ULDP", "not private: audit only", 'dn.mechanism("uwheel", form="paper", ...)'),
    _row("uRR", "ULDP", "randomised response, the value beside", 'dn.mechanism("urr", form="paper", ...)'),
    _row("uHR", "ULDP", "Hadamard response; the usual form is as printed", 'dn.mechanism("uhr", form="paper", ...)'),
    _row("uRAP", "ULDP", "bits for sensitive answers, the value beside", 'dn.mechanism("urap", form="paper", ...)'),
    _row("KS-GRR", "KSKV", "two steps", 'dn.protocol("ks-grr", form="paper", ...)'),
    _row("KS-Adap", "KSKV", "three tasks", 'dn.protocol("ks-adap", form="paper", ...)'),
    _row("KS-UE", "KSKV", "unary encoding of keys and signs", 'dn.mechanism("ks-ue", ...)'),
    _row("PCKV-UE", "KSKV", "what KS-UE is compared with", 'dn.mechanism("pckv-ue", ...)'),
    _row("PCKV-GRR", "KSKV", "what KS-GRR is compared with", 'dn.mechanism("pckv-grr", ...)'),
    _row("PrivKV", "KSKV", "one round", 'dn.mechanism("privkv", ...)'),
    _row("PrivKVM", "KSKV", "rounds", 'dn.protocol("privkvm", rounds=3, ...)'),
    _row(
        "PrivKVM+",
        "KSKV",
        "PrivKVM with a number of rounds by a rule that is in no text at hand: give the number",
        'dn.protocol("privkvm", rounds=N, ...)',
        "reconstruction",
    ),
)

SCHEMES: Mapping[str, Scheme] = {scheme.name.lower(): scheme for scheme in _ALL}
"""All of them by their names in small letters."""


def find(name: str) -> Scheme:
    """The scheme of this name, in whatever spelling."""
    found = SCHEMES.get(name.strip().lower().replace("_", "-").replace(" ", "-"))
    if found is None:
        raise ParameterError(f"scheme must be one of {', '.join(SCHEMES)}, got {name!r}.", meant(name, list(SCHEMES)))
    return found


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a scheme's estimates of all shares were off by, as means over the runs."""

    scheme: Scheme
    mse: Sampled
    mae: Sampled
    runs: int


def try_scheme(
    name: str,
    population: Population,
    *,
    levels: tuple[float, ...] = LEVELS,
    shares: str = "uniform",
    level_epsilon: float = 0.3,
    runs: int = 20,
    seed: int = 1,
) -> Outcome:
    """Simulate one of the schemes for personal levels: people report by SUE, as in the paper's experiments.

    >>> from deniable.datasets import synthetic
    >>> try_scheme("ppda", synthetic("zipf", k=8, n=20_000), runs=30).mse.value < 0.001
    True
    """
    scheme = find(name)
    require(bool(scheme.method), "scheme", name, "one that is simulated only", f"This one is {scheme.call}.")
    require(shares in ("uniform", "power law"), "shares", shares, "uniform or power law")
    require(isinstance(runs, int) and runs >= 2, "runs", runs, "a whole number >= 2")
    rho = uniform_shares(len(levels)) if shares == "uniform" else power_law(levels)
    methods = (scheme.method, *(("emoa printed",) if scheme.method.startswith("emoa n") else ()))
    found = study(
        population, runs, simulation(seed), levels=levels, shares=rho, level_epsilon=level_epsilon, methods=methods
    )
    mse, mae = (Sampled.over_runs(errors[scheme.method]) for errors in (found.mse, found.mae))
    return Outcome(scheme, mse, mae, runs)
