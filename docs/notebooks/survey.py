# %% [markdown]
# # Several questions under one budget
#
# A survey has more than one question, and a person has one budget for all of them. We plan a survey, compare ways of
# asking, try it on people whose answers we know, and look at two questions together.

# %%
import numpy as np

import deniable as dn
from deniable.audit.fakes import rsfd

QUESTIONS = {
    "smokes": ["no", "yes"],
    "sport": ["never", "monthly", "weekly", "daily"],
    "income": {"interval": (0, 5000)},
    "age": dn.ordinal(64),
}
survey = dn.survey(QUESTIONS, epsilon=1.0)
told = survey.properties(50_000)
for name in survey.names:
    share, error = told["shares"][name], told["stderr"][name]
    print(f"{name:8} asked of {100 * share:4.1f} % of the people, standard error {error:.4g}")

# %% [markdown]
# ## Why one question for each person
#
# The budget could be split: everybody answers everything, each answer with a quarter of epsilon. The error of an answer
# grows with the square of 1/epsilon where epsilon is small, so that is far worse than asking a quarter of the people
# with all of it. RS+FD hides one answer among fakes and claims the same epsilon; a whole record has another one.

# %%
four = dict.fromkeys("abcd", 4)
one, split = (dn.survey(four, epsilon=1.0, scheme=scheme).properties() for scheme in ("one", "split"))
print(f"split: {split['mse_sum'] / one['mse_sum']:.2f} times the squared error of one question each")
print(f"one question each: {100 * one['gap']:.1f} % above what any survey with this promise has")
print(f"RS+FD claims epsilon 1 for two yes/no answers; a whole record has {rsfd(1.0, (2, 2)).record:.3f}")

# %% [markdown]
# ## From answers to estimates
#
# 50,000 people, in a simulation that is marked as one. Parts are dealt without a look at any answer.

# %%
rng = np.random.default_rng(1)
n = 50_000
sport = rng.choice(4, n, p=[0.4, 0.2, 0.3, 0.1])
smokes = rng.random(n) < np.array([0.35, 0.3, 0.2, 0.1])[sport]
people = {
    "smokes": np.where(smokes, "yes", "no"),
    "sport": np.array(QUESTIONS["sport"])[sport],
    "income": 5000 * rng.beta(2, 3, n),
    "age": np.minimum(63, rng.gamma(6, 4, n).astype(int)),
}
reports = survey.privatize(people, assigned=survey.assign(n, dn.simulation(2)), rng=dn.simulation(3))
found = survey.estimate(survey.tally(reports))
for name, true in (("smokes", smokes.mean()), ("income", people["income"].mean())):
    own = found[name]
    ends = own.interval(0.95, "population")
    print(f"{name}: {own.value[-1]:.4g} ({ends.low[-1]:.4g} to {ends.high[-1]:.4g}), in truth {true:.4g}")

# %% [markdown]
# Ages have an order: their median, and the share up to each age with a band that holds everywhere at once.

# %%
print(found["age"].quantiles(0.25, 0.5, 0.75))
chart = found["age"].cumulative().chart()

# %% [markdown]
# ## Do people who do sport smoke less?
#
# From reports about single questions nothing follows about two of them together. Asked for beforehand, some reports are
# about both, and the test has the covariance that such a table really has.

# %%
both = dn.survey({name: QUESTIONS[name] for name in ("smokes", "sport")}, epsilon=1.0, tables=[("smokes", "sport")])
tally = both.tally(both.privatize(people, rng=dn.simulation(4)))
print(both.table("smokes", "sport", tally))
tested = both.independence("smokes", "sport", tally)
print(f"p = {tested.pvalue:.2g}; the usual test, which is not valid here: p = {tested.pearson_pvalue:.2g}")

# %%
try:
    survey.table("smokes", "sport", survey.tally(reports))
except dn.DeniableError as error:
    print(error)
