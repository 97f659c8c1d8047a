# %% [markdown]
# # The mean of numbers
#
# Hours of sleep, money, minutes: numbers in a known interval. Three classic mechanisms and one with the least variance
# that is possible.

# %%
import numpy as np

import deniable as dn
from deniable.present.charts import line_chart

names = ("duchi", "pm", "hm")
for name in names:
    m = dn.mechanism(name, epsilon=1.0, interval=(0, 24))
    print(f"{name:6} {m.protection.text}")

# %% [markdown]
# ## Worst errors
#
# The variance of one report depends on the number itself; a plan has to count with the worst.

# %%
rows = []
for name in names:
    for e in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0):
        rows.append(
            {
                "epsilon": e,
                "people": dn.mechanism(name, epsilon=e, interval=(0, 1)).properties(1)["variance_worst"] / 0.01**2,
                "mechanism": name,
            }
        )
hybrid = {row["epsilon"]: row["people"] for row in rows if row["mechanism"] == "hm"}
print(f"at epsilon 1, with hm: {hybrid[1.0]:,.0f} people")
chart = line_chart(
    rows,
    x="epsilon",
    y="people",
    series="mechanism",
    title="People that a standard error of 1 % of the range takes",
    subtitle="at the worst number",
    x_title="privacy budget ε",
    y_title="people",
    log_y=True,
)

# %%
best = dn.plan(question="mean", interval=(0, 24), n=10_000, epsilon=1.0)
for d in best.designs[:3]:
    print(d.title)

# %%
draw = np.random.default_rng(4)
hours = np.clip(draw.normal(7.2, 1.3, 10_000), 0, 24)
m = dn.mechanism("hm", epsilon=1.0, interval=(0, 24))
estimate = m.estimate(m.tally(m.privatize(hours, rng=dn.simulation(5))))
ends = estimate.interval(level=0.95)
print(f"mean {estimate.value[0]:.2f} hours, {ends.low[0]:.2f} to {ends.high[0]:.2f}; truly {hours.mean():.2f}")

# %% [markdown]
# ## Narrow the interval
#
# The error is a share of the interval's length. Sleep is hardly ever above 14 hours:

# %%
narrow = dn.mechanism("hm", epsilon=1.0, interval=(0, 14))
for one in (m, narrow):
    print(f"standard error {one.properties(10_000)['variance_worst'] ** 0.5:.2f} hours")
