"""Checks of the promise: what is proved exactly, and later what an attacker gains."""
