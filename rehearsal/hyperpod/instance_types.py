"""What an instance type's name says about it."""

from __future__ import annotations

# GPU families are p*, g* (gr* among them); AWS Trainium families are trn*.
ACCELERATOR_FAMILIES = ("p", "g", "trn")


def has_accelerator(instance_type: str) -> bool:
    """Say whether a type such as `ml.p5.48xlarge` has GPUs or Trainium chips."""
    return instance_type.removeprefix("ml.").startswith(ACCELERATOR_FAMILIES)
