"""Key-value data [KSKV]: figures and claims."""
