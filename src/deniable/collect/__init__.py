"""Reports in columns, tallies that add up, and their versioned bytes."""
