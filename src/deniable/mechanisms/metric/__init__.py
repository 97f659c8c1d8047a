"""Reports near the value: what a report costs is a loss that grows with the distance."""
