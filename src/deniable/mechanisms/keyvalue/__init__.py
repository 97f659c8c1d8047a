"""Keys with values: how many people have a key, and the mean of its values."""
