"""How the GPUs of an instance type are partitioned: NVIDIA's Multi-Instance GPU (MIG).

What a type's GPUs can be cut into, and how often one GPU has each partition, AWS lists in
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-gpu-partitioning.html;
for the types that its table leaves out, the list is that of `hyp`
(src/sagemaker/hyperpod/training/constants.py of https://github.com/aws/sagemaker-hyperpod-cli).
A node gets one of the layouts that the GPU operator of the HyperPod chart knows by name, in
helm_chart/HyperPodHelmChart/charts/gpu-operator/config/default-mig-config.yaml there, at the commit
that charts/pins.yaml names.
"""

import re
from collections.abc import Mapping
from typing import Final

LABEL: Final = "nvidia.com/mig.config"
"""Label of a node by which the GPU operator partitions its GPUs; the value is a layout."""
STATE_LABEL: Final = "nvidia.com/mig.config.state"
"""Label in which it says how that went: pending, success or failed."""

# Partitions by size: sevenths of the GPU. 1g+ has the memory of two of them.
_SIZES = ("1g", "1g+", "2g", "3g", "4g", "7g")
_PER_GPU: Final = {"1g": 7, "1g+": 4, "2g": 3, "3g": 2, "4g": 1, "7g": 1}
_GPUS: Final[Mapping[str, tuple[str, ...]]] = {
    "A100 40 GB": ("1g.5gb", "1g.10gb", "2g.10gb", "3g.20gb", "4g.20gb", "7g.40gb"),
    "A100 or H100 80 GB": ("1g.10gb", "1g.20gb", "2g.20gb", "3g.40gb", "4g.40gb", "7g.80gb"),
    "H200": ("1g.18gb", "1g.35gb", "2g.35gb", "3g.71gb", "4g.71gb", "7g.141gb"),
    "B200": ("1g.23gb", "1g.45gb", "2g.45gb", "3g.90gb", "4g.90gb", "7g.180gb"),
    "B300": ("1g.34gb", "1g.67gb", "2g.67gb", "3g.135gb", "4g.135gb", "7g.269gb"),
    "GB200": ("1g.23gb", "1g.47gb", "2g.47gb", "3g.93gb", "4g.93gb", "7g.186gb"),
}
_GPU_OF: Final[Mapping[str, str]] = {
    "ml.p4d.24xlarge": "A100 40 GB",
    "ml.p4de.24xlarge": "A100 or H100 80 GB",
    "ml.p5.48xlarge": "A100 or H100 80 GB",
    "ml.p5e.48xlarge": "H200",
    "ml.p5en.48xlarge": "H200",
    "ml.p6-b200.48xlarge": "B200",
    "ml.p6-b300.48xlarge": "B300",
    "ml.p6e-gb200.36xlarge": "GB200",
}

# Sizes of the equal layouts, and the parts of the mixed ones, as the chart's file has them.
_EQUAL: Final[Mapping[str, tuple[str, ...]]] = {
    "A100 40 GB": ("1g", "3g", "7g"),
    "A100 or H100 80 GB": ("1g", "3g", "7g"),
    "H200": ("1g", "3g", "7g"),
    "B300": _SIZES,
}
_MIXED: Final = (
    (("3g", 1), ("4g", 1)),
    (("1g", 1), ("2g", 1), ("4g", 1)),
    (("1g", 3), ("4g", 1)),
    (("1g", 1), ("2g", 1), ("3g", 1)),
    (("1g", 3), ("3g", 1)),
    (("2g", 2), ("3g", 1)),
    (("1g", 2), ("2g", 1), ("3g", 1)),
    (("1g", 4), ("3g", 1)),
    (("1g", 1), ("2g", 3)),
    (("1g", 3), ("2g", 2)),
    (("1g", 5), ("2g", 1)),
)
_PART = re.compile(r"(\d+)-(\dg\.\d+gb)")


def partitions(instance_type: str) -> Mapping[str, int]:
    """Return what a GPU of the type can be cut into, such as `1g.10gb`, and how often at most.

    Empty for a type without MIG.
    """
    gpu = _GPU_OF.get(instance_type)
    return {} if gpu is None else dict(zip(_GPUS[gpu], _PER_GPU.values(), strict=True))


def layouts(instance_type: str) -> tuple[str, ...]:
    """Return the layouts that the chart's GPU operator knows, such as `all-1g.10gb`."""
    gpu = _GPU_OF.get(instance_type, "")
    if gpu not in _EQUAL:
        return ()
    profile = dict(zip(_SIZES, _GPUS[gpu], strict=True))
    mixed = ("-".join(f"{count}-{profile[size]}" for size, count in parts) for parts in _MIXED)
    return (
        *(f"all-{profile[size]}" for size in _EQUAL[gpu]),
        *(f"mixed-{each}" for each in mixed),
    )


def types_with_layouts() -> tuple[str, ...]:
    """Return the instance types whose GPUs the chart's GPU operator can partition."""
    return tuple(instance_type for instance_type in _GPU_OF if layouts(instance_type))


def partitioned(instance_type: str, layout: str) -> Mapping[str, int]:
    """Return the partitions of one GPU of the type, in one of its layouts, by their profile."""
    kind, _, rest = layout.partition("-")
    if kind == "all":
        return {rest: partitions(instance_type)[rest]}
    return {profile: int(count) for count, profile in _PART.findall(rest)}


def resource(profile: str) -> str:
    """Return the resource that pods request for a partition: `nvidia.com/mig-1g.10gb`."""
    return f"nvidia.com/mig-{profile}"
