"""Hot loops. `reference` holds the NumPy versions, which define the results."""
