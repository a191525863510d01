"""`make deploy`: what will change, its progress, and what came of it."""
