"""Populations with known frequencies: count tables of real attributes, and made-up ones.

>>> from deniable.datasets import load, synthetic
>>> load("bank-job").top(3).labels
('blue-collar', 'management', 'technician')
>>> synthetic("uniform", k=3, n=10).counts.tolist()
[4, 3, 3]
"""

from deniable.datasets.population import Population
from deniable.datasets.spec import resolve
from deniable.datasets.synthetic import synthetic
from deniable.datasets.tables import NAMES, load

__all__ = ["NAMES", "Population", "load", "resolve", "synthetic"]
