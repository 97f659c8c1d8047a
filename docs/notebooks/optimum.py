# %% [markdown]
# # The optimum for your promise
#
# Not everybody needs the same protection. Here people say which illness they have. Whoever has HIV is promised
# more than whoever has a cold. We write the promise down, look at what follows from it, find the best mechanism
# for it, and see how far those that are usually taken are away from it.

# %%
import numpy as np

import deniable as dn
from deniable.present.charts import channel_chart, promise_chart

illnesses = ["HIV", "flu", "cold", "well"]
p = dn.promise(item_epsilon=[1, 2, 3, 4], rule="min", labels=illnesses)
print(p.explain("HIV"))
print(p.explain("well"))

# %% [markdown]
# Budgets along a path add up: a report that may speak for *cold* against *HIV* by e^1, and for *HIV* against
# *well* by e^1, can speak for *cold* against *well* by no more than e^2. So nobody gets more than twice the
# smallest budget.

# %%
for each in p.implied:
    print(f"{each.likely} against {each.unlikely}: given {each.given:g}, follows {each.budget:g}")
chart = promise_chart(p)

# %% [markdown]
# ## The best mechanism
#
# `optimal` lists all extreme reports that the promise allows, chooses among them, and writes the choice in whole
# numbers that a device draws from. The certificate is computed again from these whole numbers: nothing that keeps
# the promise has less error than `bound`.

# %%
best = dn.mechanism("optimal", promise=p)
known = best.certificate
print(f"summed squared error of one report {known['value']:.6f}, least possible {known['bound']:.6f}")
print(
    f"{known['extremes']} extreme reports, {best.table.outputs} of them in use; gap below 1e-9: {known['gap'] < 1e-9}"
)
print(dn.audit(best).verdict)
chart = channel_chart(best.bulk.matrix, values=illnesses)

# %% [markdown]
# ## Against the others
#
# Every other mechanism is made as it keeps the same promise: with one epsilon for all answers it has to be the
# smallest budget; `uue-levels` has a budget for each answer. `excess` is how far the squared error is above the
# least.

# %%
found = dn.plan(promise=p, n=10_000)
for d in found.designs:
    if d.name in ("optimal", "grr", "oue", "uue-levels"):
        print(f"{d.name:<12} standard error {100 * d.stderr:.2f} points, excess {100 * d.gap:5.1f} %")

# %% [markdown]
# ## Reports, and estimates with their intervals
#
# A simulation with a fixed seed: 10,000 people report once, and the collector sees nothing but these reports.

# %%
truth = np.array([0.02, 0.18, 0.3, 0.5])
people = np.repeat(np.arange(4), (truth * 10_000).astype(int))
reports = best.privatize_items(people, dn.simulation(7))
estimate = best.estimate(best.tally(reports))
ends = estimate.interval(0.95)
for label, share, low, high, own in zip(illnesses, estimate.value, ends.low, ends.high, truth, strict=True):
    print(
        f"{label:<5} truth {100 * own:4.1f} %  estimate {100 * share:5.1f} %  "
        f"95 % interval {100 * low:5.1f} to {100 * high:.1f} %"
    )

# %% [markdown]
# ## What if nothing is known about the answers?
#
# The choice above is best if all answers are equally frequent. `prior=` takes other expectations, and
# `worst=True` makes the error in the worst case as small as it can be, whatever the population is.

# %%
safe = dn.mechanism("optimal", promise=p, worst=True)
print(f"in the worst case {safe.certificate['value']:.4f} instead of {best.worth.errors.max():.4f}")
print(f"where all answers are equally frequent {safe.worth.errors.mean():.4f} instead of {known['value']:.4f}")
