"""Names of outputs that not only their stack knows."""

from typing import Final

SHORTAGE: Final = "HyperPodClusterShortage"
"""Of the HyperPod stack: which nodes are missing, and why; `none` where none is."""
