# %% [markdown]
# # Ratings: which things people have, and what they think of each
#
# Each person rates one of several things from 1 to 5. Both the thing and the rating are sensitive. `kv-ss2` asks for
# both in one report and estimates how frequent each thing is, and its mean rating.

# %%
import numpy as np

import deniable as dn

things = ["shoes", "hats", "scarves", "gloves"]
m = dn.mechanism("kv-ss2", epsilon=2.0, labels=things, range=(1, 5))
print(m.protection.text)

# %% [markdown]
# ## People

# %%
draw = np.random.default_rng(1)
chosen = draw.choice(len(things), size=20_000, p=[0.4, 0.3, 0.2, 0.1])
liked = np.clip(np.round(draw.normal(np.array([4.0, 3.0, 2.0, 4.5])[chosen], 0.8)), 1, 5)
rows = [(str(i), things[c], float(v)) for i, (c, v) in enumerate(zip(chosen, liked, strict=True))]
print(f"{len(rows):,} ratings, such as {rows[0][1:]}")

# %%
estimate = m.estimate(m.tally(m.privatize(rows, rng=dn.simulation(3))))
frequency, mean = estimate["frequency"], estimate["mean"]
for i, thing in enumerate(things):
    print(f"{thing:8} {frequency.value[i]:6.1%} ± {frequency.stderr[i]:.1%}   rated {mean.value[i]:.2f}")

# %% [markdown]
# ## Intervals of means
#
# A mean is a quotient of two noisy numbers; for rare things its interval is wide, and holds.

# %%
ends = mean.interval(level=0.95)
truth = np.array([liked[chosen == i].mean() for i in range(len(things))])
for i, thing in enumerate(things):
    print(f"{thing:8} {ends.low[i]:.2f} to {ends.high[i]:.2f}, truly {truth[i]:.2f}")

# %% [markdown]
# ## Against other mechanisms

# %%
for name in ("kv-ss2", "pckv-ue", "pckv-grr", "privkv"):
    other = dn.mechanism(name, epsilon=2.0, labels=things, range=(1, 5))
    known = other.properties(20_000)
    print(
        f"{name:9} variance of a frequency {known['variance']:.2e}, of a mean's numerator {known['variance_mean']:.2e}"
    )

# %%
print("several pairs per person: length=2", dn.mechanism("kv-ss2", epsilon=2.0, labels=things, length=2).params)
