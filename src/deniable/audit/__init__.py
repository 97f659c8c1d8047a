"""Checks of the promise: what is proved exactly, and what the best guess of an attacker gains."""
