"""One command a file: its options and its help. The work is done in the rooms beside."""
