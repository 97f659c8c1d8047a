"""Personal budgets [PLDP]: figures and claims."""
