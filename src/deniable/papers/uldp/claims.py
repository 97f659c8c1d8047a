"""ULDP's claims: what the paper says about rankings, sizes, parameters and simulations, and what holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise, product
from typing import Any

import numpy as np

from deniable.audit.exact import audit
from deniable.core.laws import epsilon_to
from deniable.mechanisms.utility.bound import least_mse_sum
from deniable.mechanisms.utility.laws import mapped_size
from deniable.papers.paper import Claims, Context
from deniable.papers.rules import Evidence, Rule, above, at_least, at_most, below, equal
from deniable.papers.uldp import checks
from deniable.papers.uldp.figures import BUDGETS, DATA, KNOWN, OURS, PRINTED, PRIVATE, bits, made

__all__ = ["CLAIMS"]

CLAIMS = Claims(checks.CLAIMS)
claim = CLAIMS.add

QUOTED_P = {"uRAP epsilon=0.5": 0.562, "uUE epsilon=0.5": 0.5, "uRAP epsilon=5": 0.924, "uUE epsilon=5": 0.517}
"""p on Census, as printed."""

QUOTED_Z = {"uSS": 0.2, "uUE": 0.0028, "uLH": 0.18}
"""z* on Normal at epsilon 0.5, as printed."""


def _errors(chosen: Mapping[str, tuple[str, str]]) -> dict[tuple[str, float], dict[str, float]]:
    return {
        (data, e): {label: made(which, data, e).mse_sum() for label, which in chosen.items()}
        for data, e in product(DATA, BUDGETS)
    }


@claim(
    "uue-urap",
    "uUE has lower MSE than uRAP in all settings",
    "Sec. 6.2",
    "consistently",
    Rule(
        (equal("uRAP is better", 0),),
        (equal("uRAP is better than ours", 0),),
        "z* = (e-1)/(e+s-1) is far below uRAP's at small epsilon; with the null branch uUE is better in all settings",
    ),
    "fig4",
)
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


@claim(
    "uss-best",
    "uSS has the lowest MSE in all settings",
    "Sec. 6.2",
    "consistently",
    Rule(
        (equal("another private one is better", 0),),
        (equal("better than ours", 0),),
        "uHR is better at small epsilon; uSS with the null branch is beaten nowhere",
    ),
    "fig4",
)
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


@claim(
    "optimal-z",
    "Maximal z gives the best utility",
    "Sec. 3",
    "z is optimal",
    Rule(
        (at_most("*, as printed above the optimum at most", 0.01),),
        (at_most("*, ours above the optimum at most", 0.01),),
        "z is the largest only if harmless values are mapped uniformly; the null branch discloses more, and is within "
        "1 % of the optimum on all data sets",
    ),
    "fig4",
)
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


@claim(
    "largest-z",
    "The largest z lowers the MSE by 9 to 26 % on average",
    "Fig. 7, Sec. 6.4",
    "9 % to 26 %",
    Rule(
        (at_least("least reduction", 0.085), at_most("largest reduction", 0.265)),
        note="by closed forms, mechanisms as printed; on Drug uSS has k = 1 and saves nothing, as the paper says; for "
        "valid uLH less than for the printed one",
    ),
    "fig7",
)
def _largest_z(context: Context) -> Evidence:
    rows = context.rows("fig7")
    found: dict[str, float] = {}
    for data, label in product(DATA, (*PRINTED, *PRIVATE)):
        values = [float(r["reduction"] or 0) for r in rows if r["setting"] == data and r["mechanism"] == label]
        found[f"{data} {label}"] = float(np.mean(values))
    printed = [v for k, v in found.items() if not k.endswith("valid") and k != "Drug uSS"]
    return found | {"least reduction": min(printed), "largest reduction": max(printed)}


@claim(
    "k-one",
    "For uSS k = 1 is optimal on Foursquare for epsilon above 3.5, and on Drug for every epsilon",
    "Sec. 6.4",
    3.5,
    Rule(
        (
            at_most("k = 1 from epsilon", 3.5),
            equal("k above 1 from there on", 0),
            equal("Drug: budgets at which k is above 1", 0),
        ),
        note="on Foursquare the optimal k is 1 already from a smaller epsilon on",
    ),
    "fig7",
)
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


@claim(
    "table1-bits",
    "uLH has the lowest communication cost for large s",
    "Table 1, Sec. 5.4",
    "O(log(e+d-s))",
    Rule(
        (at_most("* uLH, hash named", "* least of the others"),),
        (at_most("* uLH ours", "* least of the others"),),
        "the number of the hash function and the pairs are left out, and uRR and uHR are smaller; uRAP's outputs are "
        "2^s (d-s+1); with the null branch uLH has the fewest bits if the hash is public, and uPGR needs none",
    ),
    "table1",
)
def _bits(_: Context) -> Evidence:
    found: dict[str, float] = {}
    for data, (label, which) in product(("Foursquare", "Census"), (KNOWN | PRINTED | OURS).items()):
        found[f"{data} {label}"] = bits(made(which, data, 1.0))
    for data in ("Foursquare", "Census"):
        found[f"{data} uLH, hash named"] = bits(made(PRINTED["uLH"], data, 1.0), seed=math.log2(100_000))
        found[f"{data} least of the others"] = min(found[f"{data} {o}"] for o in (*KNOWN, "uSS", "uUE"))
    return found


@claim(
    "table1-order",
    "uSS, uUE and uLH are order-optimal, uRR is not",
    "Table 1, Theorem 6",
    "orders in s",
    Rule(
        (*(below(f"{label}, *", 1.2) for label in ("uSS", "uUE", "uLH")), above("uRR, *", 10)),
        note="in s, as Table 1 says; that uRAP is not of the order e/(e-1)^2 for growing epsilon shows in Fig. 3",
    ),
    "table1",
)
def _orders(context: Context) -> Evidence:
    """Error over the order of the optimum, at s = 10,000 against s = 100: constant if order-optimal."""
    rows = {str(r["mechanism"]): r for r in context.rows("table1")}

    def grows(label: str, regime: str) -> float:
        row: Any = rows[label]
        return float(row[f"{regime}, s = 10000"]) / float(row[f"{regime}, s = 100"])

    regimes = ("high privacy", "medium privacy")
    return {f"{label}, {regime}": grows(label, regime) for label, regime in product((*KNOWN, *PRINTED), regimes)}


@claim(
    "z-quoted",
    "z* of uSS, uUE, uLH on Normal at epsilon 0.5",
    "Sec. 6.3",
    QUOTED_Z,
    Rule(
        (at_most("largest deviation from what is printed", 0.006), equal("of the printed ones not private", 0)),
        (
            at_most("largest deviation from what is printed", 0.006),
            equal("of `uLH valid` and `uLH ours` not private", 0),
        ),
        "uLH's value is that of a z which is not private; valid are those of `uLH valid` and of the null branch",
    ),
)
def _quoted_z(_: Context) -> Evidence:
    designs = {label: made(which, "Normal", 0.5) for label, which in (PRINTED | PRIVATE).items()}
    designs["uLH ours"] = made(OURS["uLH ours"], "Normal", 0.5, g=3)
    found: dict[str, float] = {label: m.law.z for label, m in designs.items()}
    found["exact epsilon of uLH as printed"] = audit(designs["uLH"]).exact
    found["largest deviation from what is printed"] = max(abs(found[label] - z) for label, z in QUOTED_Z.items())
    found["of the printed ones not private"] = sum(not audit(designs[label]).holds for label in PRINTED)
    valid = ("uLH valid", "uLH ours")
    return found | {
        "of `uLH valid` and `uLH ours` not private": sum(not audit(designs[label]).holds for label in valid)
    }


@claim(
    "p-quoted",
    "p of uRAP and uUE on Census",
    "Sec. 6.2",
    QUOTED_P,
    Rule(
        tuple(c for name, p in QUOTED_P.items() for c in (at_least(name, p), below(name, p + 0.001))),
        note="cut off, not rounded",
    ),
)
def _quoted_p(_: Context) -> Evidence:
    found = {}
    for e, (label, which) in product((0.5, 5.0), {"uRAP": KNOWN["uRAP"], "uUE": PRINTED["uUE"]}.items()):
        found[f"{label} epsilon={e:g}"] = float(made(which, "Census", e).law.base.p)
    return found


@claim(
    "falls",
    "The MSE of each mechanism decreases with epsilon",
    "Fig. 4, Sec. 6.2",
    "decreases",
    Rule((equal("not falling", 0),)),
    "fig4",
)
def _falls(_: Context) -> Evidence:
    rising = [
        f"{label} {data}"
        for label, which in (KNOWN | PRINTED | OURS).items()
        for data in DATA
        if any(b > a * (1 + 1e-9) for a, b in pairwise(made(which, data, e).mse_sum() for e in BUDGETS))
    ]
    curves = len(DATA) * len(KNOWN | PRINTED | OURS)
    return {"curves": curves, "not falling": len(rising), "which": "; ".join(rising) or "none"}


@claim(
    "urr-rank",
    "uRR is among the best on Drug and the worst on Census and Normal",
    "Fig. 4, Sec. 6.2",
    "highest utility on Drug, lowest on Census and Normal",
    Rule(
        (
            at_most("Drug, uRR above the best of the six, mean over epsilon", 0.1),
            equal("Census, budgets at which uRR is not the worst of the six", 0),
            equal("Normal, budgets at which uRR is not the worst of the six", 0),
        ),
        (
            at_most("Drug, uRR above the best of the six, mean over epsilon", 0.1),
            above("*, least epsilon at which uRR is not the worst", "*, largest epsilon at which uRR is the worst"),
        ),
        "true up to some epsilon; above that its error falls below that of others, as the paper itself explains",
        note="by closed forms, mechanisms as printed",
    ),
    "fig4",
)
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


@claim(
    "uhr-small",
    "uHR is similar to uSS at small budgets and much worse at large ones",
    "Fig. 4, Sec. 6.2",
    "similar, then degrades significantly",
    Rule(
        (below("*, uHR over the best of uSS, uUE, uLH at epsilon 0.5", 1.2), above("*, at epsilon 5", 1.5)),
        note="by closed forms; similar: at most 20 % above, much worse: by more than a half",
    ),
    "fig4",
)
def _uhr_small(_: Context) -> Evidence:
    errors = _errors({"uHR": KNOWN["uHR"], **PRINTED})
    found: dict[str, float] = {}
    for data in DATA:
        low, high = (errors[data, e]["uHR"] / min(errors[data, e][x] for x in PRINTED) for e in (0.5, 5.0))
        found |= {f"{data}, uHR over the best of uSS, uUE, uLH at epsilon 0.5": low, f"{data}, at epsilon 5": high}
    return found


@claim(
    "share",
    "The error grows with the share of sensitive items",
    "Fig. 5, Sec. 6.2",
    "grows",
    Rule((equal("steps where the error falls", 0),)),
    "fig5",
)
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


@claim(
    "share-uhr",
    "With the share of sensitive items the error of uHR grows faster than that of the others",
    "Fig. 5, Sec. 6.2",
    "more rapidly than other mechanisms",
    Rule(
        (equal("data sets on which another one grows faster", 0),),
        (equal("data sets on which another one than uRR grows faster", 0),),
        "faster than all but uRR, whose error grows with the square of the number of sensitive items",
        note="from a share of 10 % to one of 80 %, epsilon 2, closed forms, mechanisms as printed",
    ),
    "fig5",
)
def _share_uhr(context: Context) -> Evidence:
    value = {(r["setting"], r["mechanism"], r["share"]): float(r["n_mse"] or 0) for r in context.rows("fig5")}
    growth = {(d, m): value[d, m, 0.8] / value[d, m, 0.1] for d in DATA for m in KNOWN | PRINTED}
    faster = {d: [m for m in KNOWN | PRINTED if growth[d, m] > growth[d, "uHR"]] for d in DATA}
    return {
        **{f"{d}, {m}: n MSE at 80 % over 10 %": x for (d, m), x in growth.items()},
        "data sets on which another one grows faster": sum(map(bool, faster.values())),
        "data sets on which another one than uRR grows faster": sum(bool(set(m) - {"uRR"}) for m in faster.values()),
    }


@claim(
    "ulh-uue",
    "uLH resembles uUE",
    "Sec. 6.2",
    "consistently resembles",
    Rule(
        (at_most("as printed: largest difference", 0.05),),
        (at_most("null branch: largest difference", 0.05),),
        "as printed their z differ, and with them their errors; with the null branch, which discloses the same, they "
        "are alike but for the rounding of g",
        note="alike: n MSE within 5 % in all settings",
    ),
    "fig4",
)
def _same_as_uue(_: Context) -> Evidence:
    def apart(one: tuple[str, str], two: tuple[str, str]) -> float:
        pairs = [(made(one, d, e).mse_sum(), made(two, d, e).mse_sum()) for d, e in product(DATA, BUDGETS)]
        return max(abs(a / b - 1) for a, b in pairs)

    return {
        "as printed: largest difference": apart(PRINTED["uLH"], PRINTED["uUE"]),
        "null branch: largest difference": apart(("ulh", "null"), ("uue", "null")),
        "null branch, real range (uWheel): largest difference": apart(("uwheel", "null"), ("uue", "null")),
    }
