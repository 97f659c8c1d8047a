# %% [markdown]
# # Attack: differencing
#
# Two published results that differ by one person: subtract them. Where exact sums are published this names the
# person's answer. Here results are made of reports, and the difference is one report, which keeps its promise. Still,
# collectors publish whole groups only, once.

# %%
import numpy as np

import deniable as dn

people = ["no"] * 699 + ["yes"] * 300
print("exact sums:", people.count("yes"), "with her", people.count("yes") + 1, "- so she said yes")

# %% [markdown]
# ## With reports

# %%
m = dn.mechanism("grr", epsilon=1.0, labels=["no", "yes"])
without = m.tally(m.privatize(people, rng=dn.simulation(1)))
hers = m.tally(m.privatize(["yes"], rng=dn.simulation(2)))
both = without + hers
difference = {name: (both.cells[name] - without.cells[name]).tolist() for name in both.cells}
print("the difference of the tallies is her report:", difference)

# %% [markdown]
# ## What her report tells

# %%
keep = m.support_effective.p
print(f"a report that says yes came from yes {keep:.1%} of the time, if both were equally likely")
print(f"bound by the promise: {np.exp(1) / (1 + np.exp(1)):.1%}")

# %% [markdown]
# ## How often the attack is right
#
# A thousand women, half of whom say yes, each attacked in this way:

# %%
truth = np.tile([0, 1], 500)
sent = m.privatize_items(truth, dn.simulation(3))
guess = dn.attack(m, reports=20_000, seed=4)
print(f"best guess: {guess.expected.success:.1%} expected, {guess.measured:.1%} seen; blind {guess.expected.blind:.0%}")
print(f"{len(sent):,} reports, {sent.row_bytes} byte each")

# %% [markdown]
# ## What is done besides
#
# A window is published once, when no report can come any more, and never about fewer reports than the minimum batch.
# Groups that are too small are joined with others, so that no difference of published numbers is about fewer people.

# %%
for batch in (1, 100, 1_000):
    print(f"a difference about {batch:5,} reports is known to ± {196 * m.mse(n=batch) ** 0.5:,.0f} points")
