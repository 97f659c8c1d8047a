"""Studies of known populations, one module per question."""
