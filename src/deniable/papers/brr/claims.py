"""All that is checked about BRR, in the paper's order: theorems and rules for m, what follows, and applications."""

from __future__ import annotations

from deniable.papers.brr import applications as brr_applications
from deniable.papers.brr import checks, theory
from deniable.papers.brr import release as brr_release
from deniable.papers.paper import Claim

__all__ = ["CLAIMS"]

_RULES = (
    Claim(
        "alg3-even",
        "An even i gives m2 = i + 1",
        "Alg. 3 line 4, proof of Theorem 1",
        "i + 1",
        theory.even_i,
    ),
    Claim("thm1-m", "For epsilon >= 1, m = m1", "Theorem 1(2), Alg. 3 line 2", "m1", theory.from_one),
    Claim("alg3-line1", "The root of m1 as typeset", "Alg. 3 line 1, Theorem 1(2)", "one root", theory.line_one),
    Claim("alg3-line3", "N/(e/2 + 1) as typeset", "Alg. 3 line 3, App. A.1", "e^epsilon/2", theory.line_three),
    Claim("eq15", "The root at an end is below (N s - N)/(e - 1)", "Eq. 15", "for epsilon >= 1", theory.inequality15),
    Claim("m1-floor", "m1 is the floor of the root", "Theorem 1(2)", "floor", theory.integer_root),
    Claim("step2", "At the i that is not raised, m = i", "Sec. 3.2, step 2", "m = i", theory.step_two),
    Claim("eq12-14", "Derivatives at an end and in the middle", "Eq. 12 to 14", "quadratic in i", theory.proof_roots),
    Claim(
        "end-or-middle",
        "The least m is that of an end or of the middle",
        "Sec. 3.4",
        "end or middle",
        theory.extreme_or_middle,
    ),
    Claim("fig3", "How the derivative changes from row to row", "Fig. 3", "two regions", checks.monotone, "fig3"),
    Claim("own-m", "An m of its own for each answer violates LDP", "Sec. 3.2", "violates", theory.own_sizes),
    Claim("min-m", "With m above the least, some answer loses", "Sec. 3.3", "certainly", checks.drawback_of_min),
)

_THEOREMS = (
    Claim("thm1-limit", "m/N tends to 1/(s+1), and m >= 1", "Theorem 1(1)", "1/(s+1)", theory.theorem1_limit),
    Claim("thm1-ldp", "BRR is epsilon-LDP", "Theorem 1(3)", "epsilon", theory.theorem1_privacy),
    Claim("never-worse", "BRR is never worse than GRR", "abstract, Theorem 2", "never", theory.never_worse),
    Claim(
        "thm2-bounds",
        "Limits of the local ratio for any k",
        "Theorem 2",
        "2/(s+1), s - (s-1)/(s+1)(sqrt(e+2s+2)+1)",
        theory.theorem2_bounds,
        "fig5b",
    ),
    Claim("thm2-gap", "Their gap is below 1/(2(s+1))", "Theorem 2", "< 1/(2(s+1))", theory.theorem2_gap),
    Claim("thm3", "Limit of the ratio of mean losses", "Theorem 3", "(7s+9)/(4(s+1)^2)", theory.theorem3, "fig5b"),
    Claim("eq20", "N Q_g in closed form", "Eq. 20", "two lines", theory.equation20),
    Claim("thm4", "In any space no answer is worse than with GRR", "Theorem 4", "at least equals", theory.theorem4),
)

_BEYOND = (
    Claim("optimal", "No better mechanism exists", "Sec. 1, 3.3, 4.2", "optimal", checks.optimal),
    Claim("more-points", "More points never hurt BRR", "Sec. 4.1", "not for BRR", checks.more_points),
    Claim("alg4", "The grid of Alg. 4", "Alg. 4 line 1", "y_i = a + (j-1)/(N-1)(b-a)", checks.alg4_index),
    Claim("two-steps", "Two steps beat L-SRR, which is for the plane only", "Sec. 4.2", "optimal", checks.two_steps),
    Claim("explosive", "The loss of GRR grows explosively with N", "Sec. 1, Fig. 5(a)", "explosion", checks.explosive),
    Claim(
        "fig5-6",
        "BRR is better than GRR and the exponential mechanism",
        "Fig. 5, 6",
        "outperforms",
        checks.lower_than_all,
        "fig6",
    ),
    Claim(
        "exponential", "The exponential mechanism uses epsilon", "Eq. 5, Sec. 5.1", "epsilon", checks.exponential_level
    ),
    Claim("region", "Reports from the own region are epsilon-LDP", "Sec. 5.3", "epsilon", checks.regions),
    *brr_release.CLAIMS,
)

_APPLICATIONS = (
    Claim(
        "sizes",
        "Instances and features of the regression data",
        "App. B.1",
        checks.SIZES,
        checks.data_sizes,
    ),
    Claim("half-range", "Leaves are perturbed on [-c, c], c half the sensitivity", "App. B.1", 0.5, checks.half_range),
    Claim(
        "laplace-range",
        "Replacing Laplace noise by BRR is what lowers the error",
        "App. B.1",
        "BRR",
        checks.interval_errors,
    ),
    Claim("sgd-laplace", "DP-SGD involves the Laplace mechanism", "App. B.2", "Laplace", checks.laplace_sgd),
    Claim("sgd-sign", "Gradients on [-C, 0] or [0, C] are epsilon-private", "App. B.2", "epsilon", checks.sign),
    Claim("sgd-clip", "C may follow the norms of the batch", "App. B.2", "C_t from g_t", checks.clipping),
    Claim("dnn-noise", "Bounded noise on features is epsilon-private", "App. B.3 (code)", 0.1, checks.published_noise),
    *brr_applications.CLAIMS,
)

CLAIMS = (*_RULES, *_THEOREMS, *_BEYOND, *_APPLICATIONS)
