# %% [markdown]
# # Places on a map: geo-indistinguishability
#
# People tell roughly where they are. The promise grows with the distance: two places that are d km apart may be
# told from each other by a factor of at most e^(epsilon d). We compare the usual ways to keep it (planar Laplace
# noise, the exponential mechanism) with the best one, and look at what somebody gains who knows where people
# usually are.

# %%
import math

import numpy as np

import deniable as dn
from deniable.present.charts import channel_chart

CAPITALS = {
    "Amsterdam": (52.37, 4.90),
    "Berlin": (52.52, 13.40),
    "Brussels": (50.85, 4.35),
    "Copenhagen": (55.68, 12.57),
    "London": (51.51, -0.13),
    "Madrid": (40.42, -3.70),
    "Paris": (48.86, 2.35),
    "Prague": (50.08, 14.44),
    "Rome": (41.90, 12.50),
    "Vienna": (48.21, 16.37),
}
names = list(CAPITALS)
turn = np.array(list(CAPITALS.values()))
plane = np.stack([turn[:, 1] * math.cos(math.radians(turn[:, 0].mean())), turn[:, 0]], axis=1) * 111.195
away = np.sqrt(((plane[:, None] - plane[None]) ** 2).sum(axis=2))
epsilon = 0.002  # a factor of e for 500 km
p = dn.promise(distances=away.tolist(), epsilon=epsilon, labels=names)
print(f"Paris and London: {away[6, 4]:.0f} km, budget {p.between('Paris', 'London'):.2f}")
print(f"Paris and Rome: {away[6, 8]:.0f} km, budget {p.between('Paris', 'Rome'):.2f}")

# %% [markdown]
# ## The best release
#
# Reports are places again, and a report costs as many kilometres as it is off. The best channel is a linear
# programme; the design carries whole numbers and a proof that no channel with this promise loses less.

# %%
best = dn.mechanism("optimal", promise=p, objective="release", loss=away.tolist())
known = best.certificate
print(
    f"expected distance {known['value']:.2f} km; nothing that keeps the promise has less than {known['bound']:.2f} km"
)
print(f"gap below 1e-9: {known['gap'] < 1e-9}")
chart = channel_chart(best.matrix(), values=names, reports=[names[y] for y in best.points])

# %% [markdown]
# ## The usual ways
#
# Planar Laplace noise adds a random vector to the place and takes the nearest place of the list. The exponential
# mechanism draws a place with weight e^(-scale distance): as it is usually printed the scale is epsilon / 2, and
# with some care (`calibrated`) the largest scale that keeps the promise.


# %%
def planar(points, epsilon, fine=300):
    """Chances of planar Laplace noise, put on the nearest place, by a fine grid of the plane."""
    reach = 12 / epsilon
    low, high = points.min(axis=0) - reach, points.max(axis=0) + reach
    axes = [np.linspace(a, b, 2 * fine + 1)[1::2] for a, b in zip(low, high, strict=True)]
    spots = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest = ((spots[:, None] - points[None]) ** 2).sum(axis=2).argmin(axis=1)
    rows = [
        np.bincount(nearest, np.exp(-epsilon * np.sqrt(((spots - at) ** 2).sum(axis=1))), len(points)) for at in points
    ]
    return np.array([row / row.sum() for row in rows])


def exponential(scale):
    """Chances in proportion to e^(-scale distance)."""
    law = np.exp(-scale * away)
    return law / law.sum(axis=1, keepdims=True)


def keeps(law):
    """Whether every two places are within their budget."""
    apart = (np.log(law)[:, None] - np.log(law)[None]).max(axis=2)
    return bool((apart <= p.budgets + 1e-12).all())


scale = max((s for s in np.linspace(0, 4 * epsilon, 401)[1:] if keeps(exponential(s))), default=0.0)
ways = {
    "the best release": best.matrix()[:, np.argsort(best.points)],
    "planar Laplace": planar(plane, epsilon),
    "exponential, printed": exponential(epsilon / 2),
    "exponential, calibrated": exponential(scale),
}
for name, law in ways.items():
    reach = away[:, sorted(best.points)] if name == "the best release" else away
    lost = (law * reach).sum(axis=1).mean()
    print(f"{name:<24} {lost:6.1f} km, {100 * max(0, lost / known['value'] - 1):5.1f} % above the least")

# %% [markdown]
# ## What somebody gains who knows where people usually are
#
# Suppose that everybody knows how many people live where. Without any report the best guess is the largest city.
# With a report the guess is the place that is likeliest then. A smaller expected distance does not come for
# nothing, and the promise is what bounds the gain: whatever the prior is, odds between two places change by at
# most e^(epsilon distance).

# %%
lives = np.array([0.9, 3.8, 1.2, 0.7, 8.9, 3.3, 2.1, 1.3, 2.8, 2.0])
prior = lives / lives.sum()
print(f"blind guess: right {100 * prior.max():.1f} % of the time")
for name, law in ways.items():
    right = (prior[:, None] * law).max(axis=0).sum()
    print(f"{name:<24} best guess right {100 * right:.1f} % of the time")

# %% [markdown]
# Whoever knows the prior can also be served better: a release for this prior has less expected distance for these
# people.

# %%
fitted = dn.mechanism("optimal", promise=p, objective="release", loss=away.tolist(), prior=prior.tolist())
print(f"for these people: {fitted.certificate['value']:.1f} km instead of {best.loss(prior):.1f} km")
