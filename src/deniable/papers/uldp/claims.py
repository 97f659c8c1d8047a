"""ULDP's claims: what the paper says about rankings, sizes, parameters and simulations, and what holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np

from deniable.audit.exact import audit
from deniable.core.laws import epsilon_to
from deniable.mechanisms.registry import mechanism
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.laws import mapped_size
from deniable.mechanisms.utility.minimax import worst_error
from deniable.papers.evidence import Evidence
from deniable.papers.paper import Context, Measures
from deniable.papers.uldp.figures import BUDGETS, DATA, KNOWN, OURS, PRINTED, PRIVATE, bits, made

__all__ = ["measures"]

measures = Measures()


def _errors(chosen: Mapping[str, tuple[str, str]]) -> dict[tuple[str, float], dict[str, float]]:
    return {
        (data, e): {label: made(which, data, e).mse_sum() for label, which in chosen.items()}
        for data, e in product(DATA, BUDGETS)
    }


@measures("uue-urap")
def _uue_urap(_: Context) -> Evidence:
    errors = _errors({"uUE": PRINTED["uUE"], "uRAP": KNOWN["uRAP"], "uUE ours": ("uue", "null")})
    lost = [f"{data} {e:g}" for (data, e), x in errors.items() if x["uRAP"] < x["uUE"]]
    ours = [f"{data} {e:g}" for (data, e), x in errors.items() if x["uUE ours"] > x["uRAP"]]
    at = errors["Foursquare", 1.0]
    return {
        "settings": len(errors),
        "uRAP is better": len(lost),
        "where": ", ".join(lost) or "nowhere",
        "uRAP is better than ours": len(ours),
        **{f"Foursquare epsilon=1, n MSE of {label}": value for label, value in at.items()},
    }


@measures("uss-best")
def _uss_best(_: Context) -> Evidence:
    private = KNOWN | {"uSS": PRINTED["uSS"], "uUE": PRINTED["uUE"]} | PRIVATE | {"uSS ours": OURS["uSS ours"]}
    errors = _errors(private)
    lost = [k for k, x in errors.items() if any(x[m] < x["uSS"] * (1 - 1e-9) for m in x if m != "uSS ours")]
    ours = [k for k, x in errors.items() if any(x[m] < x["uSS ours"] * (1 - 1e-9) for m in x)]
    at = errors["Foursquare", 1.0]
    found: dict[str, float] = {
        "settings": len(errors),
        "another private one is better": len(lost),
        "better than ours": len(ours),
    }
    return found | {f"Foursquare epsilon=1, n MSE of {label}": at[label] for label in ("uHR", "uSS", "uSS ours")}


@measures("optimal-z")
def _optimum(_: Context) -> Evidence:
    """How far uSS as printed, and with the null branch, are above the least error of any mechanism."""
    found: dict[str, float] = {}
    for data, e in product(DATA, BUDGETS):
        s, d, theta = DATA[data][1:]
        least = least_mse_sum(s, d - s, theta, *epsilon_to(e))
        for label, which in (("as printed", PRINTED["uSS"]), ("ours", OURS["uSS ours"])):
            name = f"{data}, {label} above the optimum at most"
            found[name] = max(found.get(name, 0.0), made(which, data, e).mse_sum() / least - 1)
    return found


@measures("largest-z")
def _largest_z(context: Context) -> Evidence:
    rows = context.rows("fig7")
    found: dict[str, float] = {}
    for data, label in product(DATA, (*PRINTED, *PRIVATE)):
        values = [float(r["reduction"] or 0) for r in rows if r["setting"] == data and r["mechanism"] == label]
        found[f"{data} {label}"] = float(np.mean(values))
    printed = [v for k, v in found.items() if not k.endswith("valid") and k != "Drug uSS"]
    return found | {"least reduction": min(printed), "largest reduction": max(printed)}


@measures("k-one")
def _k_one(_: Context) -> Evidence:
    s, theta = 25, 0.95

    def best(e: float, data: str = "Foursquare") -> int:
        found = made(PRINTED["uSS"], data, e).base
        assert found is not None
        return int(found.params["size"])

    start = next(e / 100 for e in range(50, 500) if best(e / 100) == 1)
    later = sum(best(e / 100) != 1 for e in range(round(100 * start), 500))
    real = mapped_size(s, theta, *epsilon_to(3.5))
    found = {"k = 1 from epsilon": start, "k above 1 from there on": later, "real k at 3.5": real}
    return found | {"Drug: budgets at which k is above 1": sum(best(e / 20, "Drug") != 1 for e in range(2, 101))}


@measures("table1-bits")
def _bits(_: Context) -> Evidence:
    """Bits of a report, hash functions public or named, for the printed form and ours on the same terms."""
    found: dict[str, float] = {}
    for data in ("Foursquare", "Census"):
        for label, which in (KNOWN | PRINTED | OURS).items():
            kind = ", hash public" if label in ("uLH", "uLH ours") else ""
            found[f"{data} {label}{kind}"] = bits(made(which, data, 1.0))
        for label in ("uLH", "uLH ours"):
            design = made((PRINTED | OURS)[label], data, 1.0)
            found[f"{data} {label}, hash named"] = bits(design, seed=math.log2(100_000))
        harmless, base = DATA[data][2] - DATA[data][1], made(PRINTED["uLH"], data, 1.0).base
        assert base is not None
        found[f"{data} uLH, by the paper's count without pairs"] = math.log2(int(base.params["g"]) + harmless)
        found[f"{data} least of the others"] = min(found[f"{data} {o}"] for o in (*KNOWN, "uSS", "uUE"))
    return found


@measures("table1-order")
def _orders(context: Context) -> Evidence:
    """Error over the order of the optimum, at s = 10,000 against s = 100: constant if order-optimal."""
    rows = {str(r["mechanism"]): r for r in context.rows("table1")}

    def grows(label: str, regime: str) -> float:
        row: Any = rows[label]
        return float(row[f"{regime}, s = 10000"]) / float(row[f"{regime}, s = 100"])

    regimes = ("high privacy", "medium privacy")
    return {f"{label}, {regime}": grows(label, regime) for label, regime in product((*KNOWN, *PRINTED), regimes)}


@measures("z-quoted")
def _quoted_z(context: Context) -> Evidence:
    printed: Any = context.paper.claim("z-quoted").paper
    designs = {label: made(which, "Normal", 0.5) for label, which in (PRINTED | PRIVATE).items()}
    designs["uLH ours"] = made(OURS["uLH ours"], "Normal", 0.5, g=3)
    found: dict[str, float] = {label: m.law.z for label, m in designs.items()}
    found["exact epsilon of uLH as printed"] = audit(designs["uLH"]).exact
    found["largest deviation from what is printed"] = max(abs(found[label] - z) for label, z in printed.items())
    found["of the printed ones not private"] = sum(not audit(designs[label]).holds for label in PRINTED)
    valid = ("uLH valid", "uLH ours")
    return found | {
        "of `uLH valid` and `uLH ours` not private": sum(not audit(designs[label]).holds for label in valid)
    }


@measures("p-quoted")
def _quoted_p(_: Context) -> Evidence:
    found = {}
    for e, (label, which) in product((0.5, 5.0), {"uRAP": KNOWN["uRAP"], "uUE": PRINTED["uUE"]}.items()):
        found[f"{label} epsilon={e:g}"] = float(made(which, "Census", e).law.base.p)
    return found


@measures("falls")
def _falls(_: Context) -> Evidence:
    rising = [
        f"{label} {data}"
        for label, which in (KNOWN | PRINTED | OURS).items()
        for data in DATA
        if any(b > a * (1 + 1e-9) for a, b in pairwise(made(which, data, e).mse_sum() for e in BUDGETS))
    ]
    curves = len(DATA) * len(KNOWN | PRINTED | OURS)
    return {"curves": curves, "not falling": len(rising), "which": "; ".join(rising) or "none"}


@measures("urr-rank")
def _urr_rank(_: Context) -> Evidence:
    errors = _errors(KNOWN | PRINTED)
    found: dict[str, float] = {}
    at_drug = [x["uRR"] / min(x.values()) - 1 for (data, _), x in errors.items() if data == "Drug"]
    found["Drug, uRR above the best of the six, mean over epsilon"] = float(np.mean(at_drug))
    for data in ("Census", "Normal"):
        other = [e for (d, e), x in errors.items() if d == data and max(x, key=x.__getitem__) != "uRR"]
        found[f"{data}, budgets at which uRR is not the worst of the six"] = len(other)
        found[f"{data}, largest epsilon at which uRR is the worst"] = max({0.0, *BUDGETS} - set(other))
        found[f"{data}, least epsilon at which uRR is not the worst"] = min([*other, 100.0])
    return found


@measures("uhr-small")
def _uhr_small(_: Context) -> Evidence:
    errors = _errors({"uHR": KNOWN["uHR"], **PRINTED})
    found: dict[str, float] = {}
    for data in DATA:
        low, high = (errors[data, e]["uHR"] / min(errors[data, e][x] for x in PRINTED) for e in (0.5, 5.0))
        found |= {f"{data}, uHR over the best of uSS, uUE, uLH at epsilon 0.5": low, f"{data}, at epsilon 5": high}
    return found


@measures("share")
def _share(context: Context) -> Evidence:
    rows = context.rows("fig5")
    growth: dict[str, float] = {}
    for label in KNOWN | PRINTED | OURS:
        values = {
            r["share"]: float(r["n_mse"] or 0) for r in rows if r["setting"] == "Normal" and r["mechanism"] == label
        }
        growth[f"{label}, Normal: n MSE at 80 % over 10 %"] = values[0.8] / values[0.1]
    falling = sum(
        float(b["n_mse"] or 0) < float(a["n_mse"] or 0)
        for a, b in pairwise(
            sorted(rows, key=lambda r: (str(r["setting"]), str(r["mechanism"]), float(r["share"] or 0)))
        )
        if (a["setting"], a["mechanism"]) == (b["setting"], b["mechanism"])
    )
    return growth | {"steps where the error falls": falling}


@measures("share-uhr")
def _share_uhr(context: Context) -> Evidence:
    value = {(r["setting"], r["mechanism"], r["share"]): float(r["n_mse"] or 0) for r in context.rows("fig5")}
    growth = {(d, m): value[d, m, 0.8] / value[d, m, 0.1] for d in DATA for m in KNOWN | PRINTED}
    faster = {d: [m for m in KNOWN | PRINTED if growth[d, m] > growth[d, "uHR"]] for d in DATA}
    return {
        **{f"{d}, {m}: n MSE at 80 % over 10 %": x for (d, m), x in growth.items()},
        "data sets on which another one grows faster": sum(map(bool, faster.values())),
        "data sets on which another one than uRR grows faster": sum(bool(set(m) - {"uRR"}) for m in faster.values()),
    }


@measures("ulh-uue")
def _same_as_uue(_: Context) -> Evidence:
    def apart(one: tuple[str, str], two: tuple[str, str]) -> float:
        pairs = [(made(one, d, e).mse_sum(), made(two, d, e).mse_sum()) for d, e in product(DATA, BUDGETS)]
        return max(abs(a / b - 1) for a, b in pairs)

    return {
        "as printed: largest difference": apart(PRINTED["uLH"], PRINTED["uUE"]),
        "null branch: largest difference": apart(("ulh", "null"), ("uue", "null")),
        "null branch, real range (uWheel): largest difference": apart(("uwheel", "null"), ("uue", "null")),
    }


# ---- a question of our own: what if the share of harmless answers is another than was expected?

_FEW = {"s=5 d=40": (5, 40, 35 / 40)}
_BUDGETS = (1.0, 2.0, 4.0)


@measures("minimax")
def minimax(_: Context) -> Evidence:
    """Largest n MSE over all shares of harmless answers, over the least that any mechanism can have."""
    found: dict[str, float] = {}
    settings = _FEW | {name: (s, d, theta) for name, (_, s, d, theta) in DATA.items()}
    for name, (s, d, theta) in settings.items():
        for epsilon in _BUDGETS:
            at = f"{name} epsilon={epsilon:g}"
            where: dict[str, Any] = {"k": d, "epsilon": epsilon, "sensitive": s}
            usual = worst_error(mechanism("uss", theta=theta, **where))
            single = mechanism("uss", theta="minimax", **where)
            mixed: Any = mechanism("ussmix", theta="minimax", **where)
            least = least_mse_sum(s, d - s, mixed.theta, *epsilon_to(epsilon))
            found[f"{at}, largest error of uSS"] = usual
            found[f"{at}, least possible largest error"] = least
            over = {"uSS": usual, "uSS for the least favourable share": worst_error(single)}
            over["the mixture for the least favourable share"] = worst_error(mixed)
            found |= {f"{at}, largest error of {of} over the least possible one": x / least for of, x in over.items()}
    return found
