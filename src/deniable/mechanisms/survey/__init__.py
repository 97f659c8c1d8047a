"""Several questions, one budget: what is asked together, who is asked what, and how well all of it can be known."""
