"""The nodes that jobs train on can run the images that are built."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import is_accelerated, is_arm
from hyperpod_cdk.schema.errors import Findings, error, warning
from hyperpod_cdk.workloads.images import PLATFORM, base_images


def image_platform(config: Config) -> Findings:
    """Find Arm nodes with accelerators beside a build of images for x86-64.

    https://docs.aws.amazon.com/eks/latest/userguide/ml-eks-nvidia-ultraserver.html
    """
    if config.workloads is None:
        return
    is_of_use = bool(base_images(config.instance_types))
    report, fix = (warning, "") if is_of_use else (error, ", and leave workloads out")
    for where, group in config.cluster.groups_with_paths():
        for path, instance_type in group.types_with_paths():
            if is_accelerated(instance_type) and is_arm(instance_type):
                message = (
                    f"is arm64, and workloads builds images for {PLATFORM} alone; name an image of "
                    f"your own in jobs on it{fix}"
                )
                yield report((*where, *path), instance_type, message)
