"""From tallies to estimates with error bars; post-processing is a named, separate step."""
