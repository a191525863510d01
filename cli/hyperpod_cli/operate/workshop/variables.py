"""The variables that the workshop's create_config.sh exports.

https://github.com/awslabs/awsome-distributed-ai, 1.architectures/7.sagemaker-hyperpod-eks
"""

import shlex
from collections.abc import Iterator, Mapping

from hyperpod_cdk import Config
from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig

OUTPUTS: Mapping[str, str] = {
    "EKS_CLUSTER_ARN": "EKSClusterArn",
    "EKS_CLUSTER_NAME": "EKSClusterName",
    "S3_BUCKET_NAME": "S3BucketName",
    "EXECUTION_ROLE": "SageMakerIAMRoleArn",
    "VPC_ID": "VpcId",
    "PRIVATE_SUBNET_ID": "PrivateSubnetId",
    "SECURITY_GROUP_ID": "SecurityGroupId",
}
"""Those that come from outputs of the platform stack."""

# create_config.sh's defaults for a group that is not described.
_ACCELERATED = {"TYPE": "ml.g5.12xlarge", "COUNT": "1"}
_GENERAL = {"TYPE": "ml.m5.2xlarge", "COUNT": "1"}
_VOLUME_GB = "500"


def variables(
    config: Config, *, outputs: Mapping[str, str], region: str, shell: Mapping[str, str]
) -> dict[str, str]:
    """Return the value of each variable; one that is set in the shell wins.

    Args:
        config: The configuration: its first group with accelerators, and its first one without.
        outputs: Outputs of the platform stack.
        region: Region of the deployment.
        shell: The environment of the shell.
    """
    own = {
        "AWS_REGION": region,
        **{name: outputs[output] for name, output in OUTPUTS.items() if output in outputs},
        **_of_group("ACCEL", _first(config, accelerated=True), default=_ACCELERATED),
        **_of_group("GEN", _first(config, accelerated=False), default=_GENERAL),
        "NODE_RECOVERY": config.cluster.node_recovery,
    }
    names = ["AWS_REGION", *OUTPUTS, *(name for name in own if name not in OUTPUTS)]
    return {
        name: value for name in dict.fromkeys(names) if (value := shell.get(name) or own.get(name))
    }


def exports(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the line of each variable for a shell."""
    for name, value in values.items():
        yield f"export {name}={shlex.quote(value)}"


def _of_group(
    prefix: str, group: InstanceGroupConfig | None, *, default: Mapping[str, str]
) -> dict[str, str]:
    if group is None:
        volume, facts = _VOLUME_GB, default
    else:
        volume = str(group.volume_size_gib or _VOLUME_GB)
        facts = {"TYPE": group.possible_instance_types[0], "COUNT": str(group.instance_count)}
    return {
        f"{prefix}_INSTANCE_TYPE": facts["TYPE"],
        f"{prefix}_INSTANCE_COUNT": facts["COUNT"],
        f"{prefix}_VOLUME_SIZE": volume,
    }


def _first(config: Config, *, accelerated: bool) -> InstanceGroupConfig | None:
    groups = config.cluster.instance_groups
    fitting = (
        group for group in groups if is_accelerated(group.possible_instance_types[0]) is accelerated
    )
    return next(fitting, None)
