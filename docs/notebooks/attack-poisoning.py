# %% [markdown]
# # Attack: forged reports
#
# Somebody sends reports that no honest device drew, to push an answer up. The estimator takes each for a perturbed
# answer and corrects for a coin that was never tossed, so a forged report counts more than one person.

# %%
import numpy as np

import deniable as dn
from deniable.present.charts import line_chart

names = ("grr", "ss", "oue", "olh", "plh")


def push(name, epsilon, k=16):
    s = dn.mechanism(name, epsilon=epsilon, k=k).support_effective
    return (1 - s.q) / (s.p - s.q)


for name in names:
    print(f"{name:4} 1 % of forged reports raise an answer that nobody has by {push(name, 1.0):.2f} points")

# %% [markdown]
# ## By epsilon
#
# The stronger the protection, the more a forged report moves. An open poll would be moved by one point.

# %%
rows = [{"epsilon": e, "points": push(name, e), "mechanism": name} for name in names for e in (0.5, 1.0, 2.0, 3.0, 4.0)]
print(f"at epsilon 0.5: {push('grr', 0.5):.1f} points by grr, {push('ss', 0.5):.1f} by ss")
chart = line_chart(
    rows,
    x="epsilon",
    y="points",
    series="mechanism",
    title="What 1 % of forged reports can add to an answer",
    subtitle="16 answers; every forged report supports the target",
    x_title="privacy budget ε",
    y_title="percentage points",
    log_y=True,
    reference=1.0,
)

# %% [markdown]
# ## Seen

# %%
m = dn.mechanism("grr", epsilon=1.0, k=16)
honest = m.tally(m.privatize_items(np.zeros(9_900, dtype=np.int64), dn.simulation(1)))
rows_of = dn.Reports.from_rows(m.design, m.fields, [bytes([7])] * 100, simulated=True)
forged = honest + m.tally(rows_of)
before, after = m.estimate(honest).value[7], m.estimate(forged).value[7]
print(
    f"answer 7, which nobody has: {before:.1%} before, {after:.1%} after; expected rise {push('grr', 1.0):.1f} points"
)

# %% [markdown]
# ## Choose with it in mind
#
# The planner has a column for it, and can weigh it against the error.

# %%
for weights in ({"error": 1}, {"error": 1, "poisoning": 3}):
    best = dn.plan(k=16, n=10_000, epsilon=1.0, weights=weights).best
    forged = f"1 % of forged reports add {100 * best.poisoning:.1f} points to all targets"
    print(f"{weights}: {best.title}, error {100 * best.stderr:.2f} points; {forged}")

# %% [markdown]
# ## What can be refused
#
# Bytes that no honest device sends are refused. A forger who keeps to the format cannot be told from an honest
# device, so tokens or lists of who may answer are up to the collector.

# %%
try:
    m.tally(dn.Reports.from_rows(m.design, m.fields, [bytes([16])], simulated=True))
except dn.DeniableError as error:
    print(f"{type(error).__name__}: {error}")
