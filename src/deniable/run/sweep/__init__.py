"""Sweeps: several mechanisms at several budgets in one call, in parallel, resumable, as tables and charts."""
