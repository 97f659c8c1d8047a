"""Utility-optimised local privacy [ULDP]: figures and claims."""
