"""Task governance: which team's jobs run, wait, borrow and make room."""
