"""Numbers of an interval on a declared grid: means and distributions."""
