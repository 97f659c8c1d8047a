"""Whole jobs on one machine: values to reports, to tallies, to results; studies; the demonstration."""
