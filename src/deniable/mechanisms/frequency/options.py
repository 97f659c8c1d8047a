"""Names and options of frequency oracles: all that is known before any of them is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias, get_args

from deniable.core.selection import NORMALIZATIONS, SELECTORS
from deniable.mechanisms.entry import Option

__all__ = ["METRICS", "NAMES", "OPTIONS", "Metric"]

Metric: TypeAlias = Literal["paper", "exact"]
METRICS: tuple[str, ...] = get_args(Metric)
"""paper: Eq. 4 for the MSE and Eq. 15 for the ASR of hashing, on the authors' grids; exact: both exact, all values."""

NAMES: Mapping[str, tuple[str, ...]] = {
    "mechanism": (
        "grr",
        "ss",
        "ue",
        "sue",
        "oue",
        "lh",
        "blh",
        "olh",
        "plh",
        "the",
        "she",
        "wheel",
        "ass",
        "aue",
        "alh",
        "athe",
        "ssmix",
        "hr",
        "pgr",
        "iss",
        "affine",
    ),
}
"""The rows of `table` by their kind, in their order."""

OPTIONS: Mapping[str, Option] = {
    "size": Option(int, "Items in a reported subset (ss); the best is near k/(e^epsilon+1)."),
    "p": Option(float, "Probability that the own bit is sent as 1 (ue)."),
    "g": Option(int, "Range of the hash (lh) or number of blocks (plh); the best is near e^epsilon + 1."),
    "threshold": Option(float, "Noisy coordinates above it are sent as 1 (the)."),
    "arc": Option(float, "Share of the ring that an answer's arc covers (wheel); the best is near 1/(e^epsilon+1)."),
    "prime": Option(int, "Prime of the projective geometry (pgr); the best is near e^epsilon + 1."),
    "cells": Option(int, "Reports that a design may have at most, which are the cells of a tally (affine)."),
    "tolerance": Option(
        float, "Share of error that is given for shorter reports and smaller tallies, 0.0001 unless given (affine)."
    ),
    "share": Option(float, "Share of the reports with a subset of size + 1 items instead of size (ssmix)."),
    "select": Option(str, "How error and best guess are balanced (ass, aue, alh, athe, ssmix).", SELECTORS),
    "objectives": Option(
        str, "What is balanced: the exact quantities, or the metrics and grids of the adaptive paper.", METRICS
    ),
    "normalize": Option(
        str, "Scale of weighted and tchebycheff: raw, relative to the least error, or logarithms.", NORMALIZATIONS
    ),
    "weight": Option(float, "Weight of the best guess, from 0 to 1; the error has the rest (weighted, tchebycheff)."),
    "limit": Option(float, "Largest allowed success of the best guess (epsilon-constraint)."),
    "reference": Option(
        str, "Largest ASR and largest MSE that count, the corner of hypervolumes: 1,1 unless given (hypervolume)."
    ),
    "rho": Option(
        float, "Share of the plain sum that is added to the largest objective: 1e-6 unless given (tchebycheff)."
    ),
    "prior": Option(
        str,
        "What a guesser knows beforehand, for the choice (ass, aue, alh, athe, ssmix): uniform, zipf[:s], normal[:s], "
        "dirichlet[:a], a data set, or a .csv file of labels and counts.",
    ),
    "rounding": Option(str, "How an ideal size is made whole: nearest, or lowest exact MSE.", ("paper", "best")),
    "encoding": Option(
        str,
        "Subsets as bits, or as an interval under a seeded permutation (ss), for key-value data called cyclic.",
        ("bits", "interval", "cyclic"),
    ),
}
