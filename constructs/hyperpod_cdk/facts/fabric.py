"""The least bus bandwidth of NCCL between nodes that someone has published, by instance type.

For other types, no one has published a floor and said how it is measured. What one cluster has
measured is not a floor for all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

_AICR = "https://github.com/NVIDIA/aicr/blob/main/recipes/overlays"


@dataclass(frozen=True, kw_only=True, slots=True)
class BandwidthFloor:
    """The bus bandwidth in GB/s of an all-reduce of all GPUs, and who says so.

    As nccl-tests reports it at the largest sizes, over EFA.
    """

    gb_per_second: float
    source: str


# NVIDIA validates clusters by them. Of H100, on ml.p5.48xlarge itself; that of H200, which has as
# many or faster EFA interfaces, is the same on purpose: "conservative".
BANDWIDTH_FLOORS: Final[Mapping[str, BandwidthFloor]] = {
    "ml.p5.48xlarge": BandwidthFloor(gb_per_second=300, source=f"{_AICR}/h100-eks-training.yaml"),
    "ml.p5e.48xlarge": BandwidthFloor(gb_per_second=300, source=f"{_AICR}/h200-eks-training.yaml"),
    "ml.p5en.48xlarge": BandwidthFloor(gb_per_second=300, source=f"{_AICR}/h200-eks-training.yaml"),
}
"""The published floors by instance type, with its `ml.` prefix."""
