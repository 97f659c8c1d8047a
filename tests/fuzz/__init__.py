"""What the fuzzers of files share."""
