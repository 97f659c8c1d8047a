"""Bipartite randomised response [BRR]: figures and claims."""
