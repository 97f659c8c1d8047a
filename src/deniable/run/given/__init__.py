"""What is given beside the data, as files: matrices of chances, priors, promises and losses."""
