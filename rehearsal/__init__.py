"""Rehearse the whole deployment on this machine, against a local AWS."""
