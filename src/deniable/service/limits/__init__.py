"""What bounds the collector: memory that requests hold, work that is done once for many, turns, clocks, and waiting."""
