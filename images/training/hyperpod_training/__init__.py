"""Trains a language model over many nodes, and goes on where it was when one of them fails."""
