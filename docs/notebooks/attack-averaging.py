# %% [markdown]
# # Attack: averaging
#
# A coin protects one report. Somebody who gets many *fresh* reports of the same answer averages the coin away. This is
# how badly, and what stops it.

# %%
import math

import numpy as np
from scipy.stats import binom

import deniable as dn
from deniable.present.charts import line_chart

m = dn.mechanism("grr", epsilon=1.0, labels=["no", "yes"])
keep = math.exp(1) / (1 + math.exp(1))
print(f"one report is right {keep:.1%} of the time")

# %% [markdown]
# ## A majority of reports
#
# A person who says yes, asked every day, with a device that draws afresh:

# %%
days = np.arange(1, 366, 2)
right = binom.sf(days // 2, days, keep)
for day in (1, 7, 31, 365):
    print(f"{day:3} reports: the majority is right {binom.sf(day // 2, day, keep):.4%} of the time")
chart = line_chart(
    [
        {"reports": int(d), "right": 100 * float(p), "device": "draws afresh"}
        for d, p in zip(days[:40], right[:40], strict=True)
    ]
    + [{"reports": int(d), "right": 100 * keep, "device": "sends the same report"} for d in days[:40:4]],
    x="reports",
    y="right",
    series="device",
    title="Guessing one person's answer from many reports",
    subtitle="yes or no, ε = 1 each",
    x_title="reports",
    y_title="right, %",
)

# %% [markdown]
# ## The same by the library

# %%
reports = m.privatize(["yes"] * 101, rng=dn.simulation(1))
print(f"of 101 fresh reports {m.estimate(m.tally(reports)).value[1]:.0%} (estimated) say yes")

# %% [markdown]
# ## What the sum costs
#
# Budgets add up. After seven reports of epsilon 1 the bound is e^7: an observer who started at even odds may be

# %%
for count in (1, 2, 7):
    print(f"{count} reports: at most {1 / (1 + math.exp(-count)):.3%} sure")

# %% [markdown]
# ## What stops it
#
# The ledger of a device gives one collector epsilon 2 in a year, and reserves a task's whole cost before the first
# answer. Sent again, a report has the same bytes: the majority of one report is that report.

# %%
allowed = 2 / m.epsilon
print(f"fresh reports that a device sends to one collector in a year: {allowed:.0f}")
