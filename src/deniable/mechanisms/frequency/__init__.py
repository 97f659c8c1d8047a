"""How often each answer occurs: every answer protected alike."""
