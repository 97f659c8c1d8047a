# %% [markdown]
# # Attack: reconstruction
#
# The best that anybody can do with one report, who knows how common each answer is: guess the most likely one. How
# often that is right is what a report tells, in a number that people understand.

# %%
import math

import deniable as dn
from deniable.present.charts import line_chart

prior = [0.4, 0.3, 0.2, 0.1]
m = dn.mechanism("ss", epsilon=1.0, k=4)
found = dn.attack(m, prior=prior, reports=20_000, seed=1)
print(f"without a report {found.expected.blind:.1%}, with one {found.expected.success:.1%}, seen {found.measured:.1%}")

# %% [markdown]
# ## By mechanism
#
# The same epsilon does not mean the same success: longer reports may tell more.

# %%
for name in ("grr", "ss", "sue", "oue", "blh", "olh"):
    one = dn.attack(dn.mechanism(name, epsilon=2.0, k=16)).expected
    print(f"{name:4} right {one.success:.1%} of the time, blind {one.blind:.1%}")

# %%
rows = [
    {"epsilon": e, "right": 100 * dn.attack(dn.mechanism(name, epsilon=e, k=16)).expected.success, "mechanism": name}
    for name in ("grr", "ss", "oue", "olh")
    for e in (0.5, 1.0, 2.0, 3.0, 4.0, 5.0)
]
print(f"{len(rows)} attacks")
chart = line_chart(
    rows,
    x="epsilon",
    y="right",
    series="mechanism",
    title="How often the best guess of one answer is right",
    subtitle="16 answers, all equally likely beforehand; a blind guess is right 6.25 % of the time",
    x_title="privacy budget ε",
    y_title="right, %",
)

# %% [markdown]
# ## The limit
#
# Whatever the mechanism: with k answers that are equally likely, at most e^epsilon / (e^epsilon + k - 1).

# %%
limit = math.exp(2) / (math.exp(2) + 15)
print(f"at epsilon 2 and 16 answers: {limit:.1%}, which grr attains")

# %% [markdown]
# ## Less success for the same error
#
# `ssmix` gives up a little accuracy for reports that tell less.

# %%
plain = dn.mechanism("ss", epsilon=2.0, k=50)
careful = dn.mechanism("ssmix", epsilon=2.0, k=50, select="epsilon-constraint", limit=0.08)
for one in (plain, careful):
    known = one.properties(10_000)
    print(f"{one.name:5} best guess {known['asr']:.1%}, standard error {100 * known['mse'] ** 0.5:.2f} points")
