# %% [markdown]
# # Shares with error bars
#
# A question with a few answers, asked of many people, none of whom has to trust anybody. We plan it, prove the
# promise, collect made-up answers, and read the result.

# %%
import deniable as dn
from deniable.present.charts import caption, estimate_chart

people = dn.datasets.load("adult-education")
print(f"{len(people.labels)} levels of education, {people.n:,} people")

# %% [markdown]
# ## Which mechanism
#
# The planner compares all of them for these numbers: the error, how often the best guess of one answer is right,
# and the bytes of a report.

# %%
plan = dn.plan(k=len(people.labels), n=people.n, epsilon=1.0)
for d in plan.designs[:4]:
    print(f"{d.title:22} error {100 * d.stderr:.2f} points, best guess {d.asr:.1%}, {d.bytes} bytes")

# %% [markdown]
# ## The promise, proved

# %%
m = dn.mechanism("ss", epsilon=1.0, labels=people.labels)
found = dn.audit(m)
print(found.holds, "by", found.proof.method)
print(found.proof.witness)

# %% [markdown]
# ## Collect and estimate
#
# The coins come from a seed, so that this page shows the same numbers again. For real people leave it out.

# %%
estimate = m.estimate(m.tally(m.privatize_items(people.values(), dn.simulation(7))))
ends = estimate.interval(level=0.95)
inside = ends.covers(people.frequencies)
print(f"{int(inside.sum())} of {inside.size} intervals hold the true share")
chart = estimate_chart(
    estimate.labels,
    estimate.value,
    ends.low,
    ends.high,
    title="Education of 32,561 people, from deniable reports",
    subtitle=caption(m.name, epsilon=m.epsilon, n=estimate.n, simulated=estimate.simulated),
    truth=people.frequencies,
)

# %% [markdown]
# ## Shares for a chart
#
# Raw estimates may be a little below zero. They are right on average; shares that look like shares are not, and say so.

# %%
shown = estimate.project()
print(f"least raw share {estimate.value.min():.2%}, projected {shown.value.min():.2%}")
print(shown.steps[-1])
