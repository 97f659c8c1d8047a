"""Mechanisms: one file per family, one explicit table of them all in `registry`."""
