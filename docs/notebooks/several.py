# %% [markdown]
# # Several questions, one budget
#
# Three questions to the same people under one epsilon. Asking each person all of them splits the budget; dealing each
# person one of them splits the people. The second is better, and by how much is computed.

# %%
import deniable as dn

survey = dn.survey({"smokes": ["no", "yes"], "sport": 4, "income": {"interval": (0, 5000)}}, epsilon=1.0)
print(survey)

# %%
for name, share in survey.properties(20_000)["shares"].items():
    print(f"{name}: {share if isinstance(share, str) else round(float(share), 3)}")

# %% [markdown]
# ## Split the budget, or the people?

# %%
third = dn.mechanism("grr", epsilon=1 / 3, k=2).mse(n=20_000)
dealt = dn.mechanism("grr", epsilon=1.0, k=2).mse(n=20_000 / 3)
print(f"a third of epsilon: {100 * third**0.5:.2f} points; a third of the people: {100 * dealt**0.5:.2f} points")

# %%
people = {"smokes": ["no", "yes"] * 5000, "sport": [0, 3] * 5000, "income": [800, 2200] * 5000}
reports = survey.privatize(people, assigned=survey.assign(10_000, dn.simulation(2)), rng=dn.simulation(1))
found = survey.estimate(survey.tally(reports))
print(list(found), f"{found.n:,} reports")

# %%
for label, value in zip(("no", "yes"), found["smokes"].value, strict=True):
    print(f"smokes {label}: {value:.1%}")

# %% [markdown]
# ## What is promised about all answers together

# %%
promised = survey.guarantee()
print(f"the whole record: {promised['record']}; one answer: {promised['answers']['sport']}")
