"""Who may do what: keys and roles, who is signed in, and the key with which a collector signs its tasks."""
