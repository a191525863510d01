"""Quotas of the local AWS, named as AWS names them, for an account that asked for more."""

from dataclasses import dataclass

VPCS, ADDRESSES, INTERFACES = "L-F678F1CE", "L-0263D0A3", "L-DF5E4CA3"
PER_CLUSTER, ACROSS_CLUSTERS = "L-2CE978FC", "L-3308CCC7"
SPOT_ACROSS_CLUSTERS, VOLUME_SIZE = "L-97A2C724", "L-E13DF72A"


@dataclass(frozen=True, slots=True, kw_only=True)
class Value:
    """A quota.

    Attributes:
        service: Code of the service.
        name: Its name.
        default: What a new account has.
        applied: What the local account has; None where AWS keeps the default.
    """

    service: str
    name: str
    default: float
    applied: float | None = None

    @property
    def limit(self) -> float:
        """What holds."""
        return self.default if self.applied is None else self.applied


# https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
# https://docs.aws.amazon.com/general/latest/gr/sagemaker.html
VALUES = {
    VPCS: Value(service="vpc", name="VPCs per Region", default=5, applied=300),
    ADDRESSES: Value(service="ec2", name="EC2-VPC Elastic IPs", default=5, applied=150),
    INTERFACES: Value(service="vpc", name="Network interfaces per Region", default=5000),
    PER_CLUSTER: Value(
        service="sagemaker",
        name="Maximum number instances allowed per SageMaker HyperPod cluster",
        default=20,
        applied=2000,
    ),
    ACROSS_CLUSTERS: Value(
        service="sagemaker",
        name="Total number of instances allowed across SageMaker HyperPod clusters",
        default=30,
        applied=4000,
    ),
    SPOT_ACROSS_CLUSTERS: Value(
        service="sagemaker",
        name="Total number of Spot instances allowed across SageMaker HyperPod clusters",
        default=0,
        applied=1000,
    ),
    VOLUME_SIZE: Value(
        service="sagemaker",
        name="Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance",
        default=1024,
        applied=8192,
    ),
}
