"""The planner: from people, answers and risks to ranked designs."""
