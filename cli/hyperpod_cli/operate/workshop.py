"""What the HyperPod workshop takes: variables of create_config.sh, the CreateCluster request."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk import Config
from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.hyperpod.node_group import ClusterDefaults
from hyperpod_cdk.hyperpod.node_settings import NO_MOUNTS, LifecycleConfig
from hyperpod_cdk.hyperpod.orchestrator import cluster_request
from hyperpod_cdk.lifecycle_scripts.folder import ScriptFolder
from hyperpod_cdk.lifecycle_scripts.section import OwnScriptsConfig, joined
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_stacks.orchestration.slurm import slurm_of
from hyperpod_stacks.table import StackKind, stack_names

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
_ACCELERATED, _GENERAL = "ml.g5.12xlarge", "ml.m5.2xlarge"
_COUNT, _VOLUME_GB = "1", "500"


def variables(
    config: Config, *, outputs: Mapping[str, str], region: str, shell: Mapping[str, str]
) -> dict[str, str]:
    """Return the value of each variable; one that is set in the shell wins.

    They are of the first group with accelerators, and of the first one without.
    """
    here = {
        "AWS_REGION": region,
        **{name: outputs[output] for name, output in OUTPUTS.items() if output in outputs},
        **(_of_cluster(config) if config.cluster.exists else {}),
    }
    names = ["AWS_REGION", *OUTPUTS, *(name for name in here if name not in OUTPUTS)]
    return {
        name: value for name in dict.fromkeys(names) if (value := shell.get(name) or here.get(name))
    }


def exports(values: Mapping[str, str]) -> Iterator[str]:
    """Yield the line of each variable for a shell."""
    for name, value in values.items():
        yield f"export {name}={shlex.quote(value)}"


def _of_cluster(config: Config) -> dict[str, str]:
    values: dict[str, str] = {}
    for prefix, default, accelerated in (
        ("ACCEL", _ACCELERATED, True),
        ("GEN", _GENERAL, False),
    ):
        types, count, volume = [default], _COUNT, _VOLUME_GB
        for group in config.cluster.workers:
            if is_accelerated(group.possible_instance_types[0]) is accelerated:
                types, count = [*group.possible_instance_types], str(group.instance_count)
                volume = str(group.volume_size_gib or _VOLUME_GB)
                break
        values |= {
            f"{prefix}_INSTANCE_TYPE": types[0],
            f"{prefix}_INSTANCE_COUNT": count,
            f"{prefix}_VOLUME_SIZE": volume,
        }
    return {**values, "NODE_RECOVERY": config.cluster.node_recovery}


def stacks_to_read(config: Config) -> Iterator[StackKind]:
    """Yield the stacks whose outputs `cluster_config` takes: under Slurm, nodes mount files."""
    yield "platform"
    if config.control_plane is None and "storage" in stack_names(config):
        yield "storage"


def cluster_config(config: Config, *, outputs: Mapping[str, str], region: str) -> dict[str, Any]:
    """Return the input of CreateCluster that a deployment of a configuration sends.

    `outputs` are those of `stacks_to_read`. It is refused where the deployment makes the role for
    autoscaling with the cluster, or the platform stack has no key yet for the nodes' volumes.
    """
    cluster = config.cluster
    if cluster.auto_scaling is not None and cluster.role_arn is None:
        raise OpsError(
            "cluster.role_arn: is missing, and the role that a deployment makes for auto_scaling "
            "comes with the cluster; name a role, or leave auto_scaling out"
        )
    key = outputs.get("EncryptionKeyArn") if config.encryption.encrypts_volumes else None
    if config.encryption.encrypts_volumes and key is None:
        raise OpsError(
            "encryption: is not deployed yet, so there is no key for the nodes' volumes; run "
            "`hyperpod-cdk deploy` first"
        )
    subnets = outputs["OutputPrivateSubnetIds"].split(",")
    zones = config.network.hyperpod_zone_ids

    def further_subnet(zone: str) -> str | None:
        index = zones.index(zone)
        return None if index == 0 else subnets[index]

    def training_plan(name: str) -> str:
        if name.startswith("arn:"):
            return name
        _, partition, _, _, account, *_ = outputs["SageMakerIAMRoleArn"].split(":")
        return f"arn:{partition}:sagemaker:{region}:{account}:training-plan/{name}"

    def scripts_of(home: Sequence[ScriptFolder]) -> LifecycleConfig:
        # Not validated: the section wants a prefix, which a deployment need not have.
        entry: dict[str, Any] = {**home[0].lifecycle}
        uri = joined(f"s3://{outputs['S3BucketName']}", home[0].prefix)
        return LifecycleConfig.model_construct(source_s3_uri=uri, **entry)

    own_home, *others = config.script_folders
    homes = {
        (scripts.directory, scripts.run): home
        for scripts, home in zip(cluster.own_scripts, others, strict=True)
    }

    def scripts_in(scripts: OwnScriptsConfig) -> LifecycleConfig:
        return scripts_of(homes[scripts.directory, scripts.run])

    if config.control_plane is None:
        slurm = slurm_of(config, outputs=outputs)
        orchestrator, mounts = slurm.to_request(cluster), slurm.mounts
    else:
        orchestrator, mounts = {"Eks": {"ClusterArn": outputs["EKSClusterArn"]}}, NO_MOUNTS
    defaults = ClusterDefaults(
        execution_role_arn=outputs["SageMakerIAMRoleArn"],
        security_group_id=outputs["SecurityGroupId"],
        training_plan_arn=training_plan,
        subnet_id_in=further_subnet,
        lifecycle=scripts_of(own_home) if own_home else None,
        lifecycle_in=scripts_in,
        mounts=mounts,
    )
    if cluster.needs_controller_role:
        cluster = cluster.with_controller_role(outputs["ControllerRoleArn"])
    return cluster_request(
        cluster.with_volume_key(key).filled_in(defaults),
        orchestrator=orchestrator,
        security_group_id=outputs["SecurityGroupId"],
        subnet_id=subnets[0],
        tags=config.tags,
    )
