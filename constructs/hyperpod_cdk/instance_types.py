"""The instance types HyperPod accepts."""

import re

from hyperpod_cdk.service_limits import shape

# EC2's naming convention puts the family first; these families carry GPUs or Trainium chips.
# https://docs.aws.amazon.com/ec2/latest/instancetypes/instance-type-names.html
_ACCELERATED = re.compile(r"ml\.(p|g|gr|trn)\d")


def instance_types() -> tuple[str, ...]:
    """Return every instance type of the HyperPod API, such as `ml.p5.48xlarge`."""
    return shape("sagemaker.ClusterInstanceType").values


def is_accelerated(instance_type: str) -> bool:
    """Tell whether the instance type has GPUs or AWS Trainium chips.

    Args:
        instance_type: A HyperPod instance type, with its `ml.` prefix.

    Raises:
        ValueError: HyperPod has no such instance type.
    """
    if instance_type not in instance_types():
        raise ValueError(f"{instance_type!r} is not a HyperPod instance type")
    return _ACCELERATED.match(instance_type) is not None
