"""Some answers are sensitive, others harmless (ULDP): any base for the sensitive ones, the others mostly disclosed."""
