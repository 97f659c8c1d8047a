"""The settings of AdaptiveLDP Sec. VI-A."""

from __future__ import annotations

from itertools import product

__all__ = ["BUDGETS", "DOMAINS", "LOW", "SETTINGS", "SMALL", "K"]

SMALL = (25, 50, 75, 100)
DOMAINS = (*SMALL, 250, 500, 750, 1000, 2500, 5000, 7500, 10000)
LOW = tuple(i / 2 for i in range(4, 21))
BUDGETS = (*(i / 10 for i in range(5, 20)), *LOW)
"""Budgets of medium to low privacy, and all of them; with the domain sizes above they are those of Sec. VI-A."""

SETTINGS = tuple(product(DOMAINS, BUDGETS))

K = 100
"""Domain of the figures that have only one."""
