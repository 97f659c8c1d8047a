"""The collector: tasks, a store that loses nothing and counts nothing twice, releases, and the service around them."""
