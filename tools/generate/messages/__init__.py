"""The page of all messages that a user may read, from the code that says them."""
