"""Attack-aware protocols [AdaptiveLDP]: figures and claims."""
