"""MiniStack with what HyperPod needs and it lacks: `python -m hyperpod_emulator.aws`.

Runs in MiniStack's own environment, so what is imported here is installed there, or in this package
or `aws_reference`. `ministack.py` alone imports MiniStack: the rest has its modules from there.
"""
