# %% [markdown]
# # Ages: ranges, curves and quantiles
#
# Answers in an order are asked for ranges: how many are under 25, where is the middle? `windows` reports a stretch of
# the scale that holds the true answer more often than chance.

# %%
import numpy as np

import deniable as dn
from deniable.present.charts import line_chart

ages = [str(age) for age in range(18, 82)]
m = dn.mechanism("windows", epsilon=1.0, labels=ages)
print(m.protection.text)

# %% [markdown]
# ## How close will ranges be?

# %%
for low, high in ((0, 7), (0, 32), (20, 30)):
    error = 100 * m.range_variance(low, high, n=50_000) ** 0.5
    print(f"{ages[low]} to {ages[high - 1]}: standard error {error:.2f} points")

# %%
shape = np.exp(-((np.arange(64) - 20) ** 2) / 300)
people = np.repeat(ages, np.round(50_000 * shape / shape.sum()).astype(int))
found = m.estimate(m.privatize(people, rng=dn.simulation(7)))
print(f"{found.n:,} people")

# %%
under, working = found.ranges(("18", "24"), ("25", "64")).value
print(f"18 to 24: {under:.1%}, 25 to 64: {working:.1%}")

# %% [markdown]
# ## The whole curve, with a band
#
# The band holds the whole true curve, not just each point of it, 95 times in 100.

# %%
curve = found.cumulative()
band = curve.interval(simultaneous=True)
truth = np.cumsum(shape / shape.sum())
print(f"whole curve inside the band: {bool(band.covers(truth).all())}")
rows = [
    {"age": 18 + i, "share": 100 * float(value), "curve": name}
    for name, values in (("estimate", curve.value), ("lower end", band.low), ("upper end", band.high), ("truth", truth))
    for i, value in enumerate(values)
    if i % 3 == 0
]
chart = line_chart(
    rows,
    x="age",
    y="share",
    series="curve",
    title="People up to an age, from deniable reports",
    subtitle="windows, ε = 1, 50,000 people, simulated; the band holds the whole curve",
    x_title="age",
    y_title="share up to this age, %",
)

# %%
print(found.quantiles(0.1, 0.5, 0.9))
