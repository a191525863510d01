"""MiniStack with what a HyperPod platform needs and it lacks: `python -m emulator.aws`.

Runs inside MiniStack's own virtual environment, so nothing here imports the project's packages.
MiniStack's private names are used on purpose (`internals.py` checks that they are there): its
public surface has no way to add a CloudFormation resource type or a service.
"""
