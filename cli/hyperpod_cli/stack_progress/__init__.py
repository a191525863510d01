"""Operations on stacks as a user follows them at a terminal: progress, failures, outputs."""
