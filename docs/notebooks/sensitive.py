# %% [markdown]
# # Only some answers are sensitive
#
# Who has the flu does not mind saying so; who has HIV may. If only the sensitive answers are protected, the error of
# all shares shrinks. The price is said before anybody answers: harmless answers may be named openly.

# %%
import deniable as dn
from deniable.present.charts import line_chart

labels = ["HIV", "depression", "flu", "cold", "nothing"]
m = dn.mechanism("uss", epsilon=1.0, labels=labels, sensitive="HIV,depression")
print(m.protection.text)

# %% [markdown]
# ## What each answer may give away

# %%
for one in ("HIV", "flu"):
    for other in ("depression", "cold"):
        print(f"{one} against {other}: budget {m.promise.between(one, other):.3g}")

# %% [markdown]
# ## The gain

# %%
both = {"all protected (ss)": dn.mechanism("ss", epsilon=1.0, labels=labels), "some protected (uss)": m}
for name, design in both.items():
    print(f"{name:22} standard error {100 * design.properties(10_000)['mse'] ** 0.5:.2f} points")

# %%
rows = [
    {
        "epsilon": e,
        "error": 100 * dn.mechanism(name, epsilon=e, labels=labels, **more).properties(10_000)["mse"] ** 0.5,
        "design": name,
    }
    for name, more in (("ss", {}), ("uss", {"sensitive": "HIV,depression"}))
    for e in (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
]
print(f"at epsilon 0.5: {rows[0]['error']:.1f} and {rows[6]['error']:.1f} points")
chart = line_chart(
    rows,
    x="epsilon",
    y="error",
    series="design",
    title="Error of a share if two of five answers are sensitive",
    subtitle="10,000 people, exact closed forms",
    x_title="privacy budget ε",
    y_title="standard error, points",
)

# %% [markdown]
# ## Estimate

# %%
sick = ["HIV"] * 300 + ["depression"] * 1_700 + ["flu"] * 2_000 + ["cold"] * 3_000 + ["nothing"] * 3_000
estimate = m.estimate(m.tally(m.privatize(sick, rng=dn.simulation(2))))
for label, value, error in zip(labels, estimate.value, estimate.stderr, strict=True):
    print(f"{label:11}{value:6.1%} ± {error:.1%}")
