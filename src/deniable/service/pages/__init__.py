"""What people see: the survey page of a task, and the pages of analysts. Everything is rendered on the server."""
