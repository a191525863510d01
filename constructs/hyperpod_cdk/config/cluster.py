"""The `cluster` section: the HyperPod cluster and its instance groups."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any

from pydantic import ConfigDict, ValidationError, ValidationInfo, field_validator

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.limits import ApiLimits, limit_faults
from hyperpod_cdk.config.section import Listed, Section
from hyperpod_cdk.config.validation_faults import faults_of
from hyperpod_cdk.instance_types import is_accelerated
from hyperpod_cdk.service_limits import shape

DeepHealthCheck = Annotated[
    str, ApiLimits(shape_name="sagemaker.DeepHealthCheckType", noun="a deep health check")
]


class InstanceGroupConfig(Section):
    """Equal nodes of the cluster."""

    name: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterInstanceGroupName",
            noun="an instance group name (letters, digits, inner hyphens)",
        ),
    ]
    """Name of the group, once in the cluster."""

    instance_type: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterInstanceType", noun="a HyperPod instance type")
    ]
    """Instance type with its ml. prefix. The account needs the quota `<type> for cluster usage`."""

    instance_count: Annotated[
        int, ApiLimits(shape_name="sagemaker.ClusterInstanceCount", noun="an instance count")
    ]
    """Number of instances; each is billed from the start of its lifecycle script."""

    volume_size_gib: Annotated[
        int, ApiLimits(shape_name="sagemaker.ClusterEbsVolumeSizeInGB", noun="a volume size in GiB")
    ] = 500
    """Size in GiB of the EBS volume of each instance, mounted at /opt/sagemaker. Default: 500."""

    threads_per_core: Annotated[
        int, ApiLimits(shape_name="sagemaker.ClusterThreadsPerCore", noun="threads per core")
    ] = 1
    """2 turns simultaneous multithreading on, for types that have it; 1 suits every type. Default:
    1."""

    deep_health_checks: Listed[DeepHealthCheck] = ()
    """Tests of the hardware before an instance joins, which take from minutes to hours:
    InstanceStress, InstanceConnectivity, MultiNodeTrainingValidation. GPU and Trainium only.
    Default: none."""

    @field_validator("deep_health_checks")
    @classmethod
    def _check_deep_health_checks(
        cls, value: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        refuse(_deep_health_check_faults(value, instance_type=info.data.get("instance_type")))
        return value


class ClusterConfig(Section):
    """The HyperPod cluster."""

    # `Config` gives the name its default, for it derives from the deployment's own.
    model_config = ConfigDict(json_schema_extra=lambda schema: schema["required"].remove("name"))

    name: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterName",
            noun="a cluster name (letters, digits, inner hyphens)",
        ),
    ]
    """Name of the HyperPod cluster, once in the account and region. Default: `<name>-cluster`, from
    the name of the deployment."""

    node_recovery: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterNodeRecovery", noun="a node recovery")
    ] = "Automatic"
    """Automatic: HyperPod reboots or replaces faulty nodes. None: it only labels them."""

    node_provisioning_mode: (
        Annotated[
            str,
            ApiLimits(
                shape_name="sagemaker.ClusterNodeProvisioningMode", noun="a provisioning mode"
            ),
        ]
        | None
    ) = "Continuous"
    """Continuous: nodes join one by one as capacity is found, and missing ones are retried for
    ever. null: all nodes or none. It is set when the cluster is created."""

    instance_groups: Listed[InstanceGroupConfig]
    """The groups of nodes, 1 to 100."""

    @field_validator("instance_groups", mode="wrap")
    @classmethod
    def _check_instance_groups(
        cls, value: object, handler: Callable[[object], tuple[InstanceGroupConfig, ...]]
    ) -> tuple[InstanceGroupConfig, ...]:
        # Wrapped, so that a fault within one group does not hide those between the groups.
        faults = list(_group_faults(value)) if isinstance(value, list | tuple) else []
        try:
            groups = handler(value)
        except ValidationError as error:
            refuse([*faults_of(error, model=InstanceGroupConfig), *faults])
            raise
        refuse(faults)
        return groups


def _deep_health_check_faults(
    checks: tuple[str, ...], *, instance_type: str | None
) -> Iterator[Fault]:
    if checks and instance_type is not None and not is_accelerated(instance_type):
        message = f"must be empty for {instance_type}: they test GPU and Trainium types only"
        yield Fault(value=list(checks), message=message)
    for index, check in enumerate(checks):
        if check in checks[:index]:
            yield Fault(path=(index,), value=check, message="is listed twice; list each check once")


def _group_faults(groups: list[Any] | tuple[Any, ...]) -> Iterator[Fault]:
    limits = shape("sagemaker.ClusterInstanceGroupSpecifications")
    yield from limit_faults(len(groups), limits=limits, noun="the number of instance groups")
    first: dict[str, int] = {}
    for index, group in enumerate(groups):
        name = group.get("name") if isinstance(group, dict) else getattr(group, "name", None)
        if not isinstance(name, str):
            continue
        if name in first:
            message = f"is already the name of instance_groups[{first[name]}]; names must differ"
            yield Fault(path=(index, "name"), value=name, message=message)
        first.setdefault(name, index)
