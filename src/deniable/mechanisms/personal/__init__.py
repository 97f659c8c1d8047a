"""Everyone chooses a level of protection, and the level itself is protected (PLDP)."""
