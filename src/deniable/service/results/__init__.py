"""What is made of releases: estimates for a target, flat tables, trends and groups, and the public page of a task."""
