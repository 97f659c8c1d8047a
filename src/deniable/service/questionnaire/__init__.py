"""Questionnaires: what a researcher writes down, what follows from it, and the task that comes of it."""
