"""ARNs and ids of what a HyperPod cluster uses but this deployment does not make."""

from collections.abc import Iterator
from typing import Annotated

from hyperpod_cdk.config.faults import Fault
from hyperpod_cdk.config.limits import ApiLimits, Matching
from hyperpod_cdk.service_limits import regions

RoleArn = Annotated[str, ApiLimits(shape_name="sagemaker.RoleArn", noun="an IAM role's ARN")]
TrainingPlanArn = Annotated[
    str, ApiLimits(shape_name="sagemaker.TrainingPlanArn", noun="a training plan's ARN")
]
# An alias would pass the API's pattern, but no IAM policy can be limited to the key behind it.
KmsKeyId = Annotated[
    str,
    Matching(
        pattern=r"(arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/)?[0-9A-Za-z][0-9A-Za-z-]*",
        longest=2048,
        rule="must be the ID or the ARN of a KMS key (no alias), such as "
        "1234abcd-12ab-34cd-56ef-1234567890ab",
    ),
]
SubnetId = Annotated[
    str,
    Matching(
        pattern=r"subnet-[0-9a-f]{8}([0-9a-f]{9})?",
        rule="must be a subnet's ID such as subnet-0123456789abcdef0",
    ),
]
SecurityGroupId = Annotated[
    str,
    Matching(
        pattern=r"sg-[0-9a-f]{8}([0-9a-f]{9})?",
        rule="must be a security group's ID such as sg-0123456789abcdef0",
    ),
]


def arn_faults(value: str | None, *, region: str | None) -> Iterator[Fault]:
    """Find an ARN of another partition or region than the deployment's.

    Args:
        value: The ARN; what is not an ARN is passed over.
        region: The configured region; None leaves nothing to compare with.
    """
    if value is None or region is None or not value.startswith("arn:"):
        return
    _, partition, _, own_region, _ = value.split(":", 4)
    if partition != regions()[region]:
        message = f"must be of partition {regions()[region]}, which region {region} belongs to"
        yield Fault(value=value, message=message)
    elif own_region not in ("", region):  # IAM's ARNs have no region
        yield Fault(value=value, message=f"must be of region {region}, where the cluster is")
