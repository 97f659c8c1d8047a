"""Mechanisms: the contract that all keep, a room for each family, and one table of them all in `registry`."""
