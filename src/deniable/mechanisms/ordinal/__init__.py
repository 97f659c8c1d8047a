"""Answers in an order: shares of ranges, cumulative shares and quantiles."""
