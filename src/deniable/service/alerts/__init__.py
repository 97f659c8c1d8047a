"""What whoever runs a survey should hear of: on its page, and by a signed message to addresses of their own."""
