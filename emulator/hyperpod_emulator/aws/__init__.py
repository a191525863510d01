"""MiniStack with what a HyperPod platform needs and it lacks: `python -m emulator.aws`.

Runs inside MiniStack's own virtual environment, so nothing here imports the project's packages.
`ministack.py` alone imports MiniStack: it holds the names that the rest uses.
"""
