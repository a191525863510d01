"""What HyperPod refuses of a request that its model allows: rules, training plans and quotas."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_emulator.hyperpod.service_model import instance_types
from hyperpod_emulator.hyperpod.simulation.errors import ApiError, validation_error
from hyperpod_emulator.hyperpod.simulation.state import CONTINUOUS, Cluster
from hyperpod_emulator.hyperpod.simulation.training_plans import HYPERPOD, USABLE, TrainingPlan
from hyperpod_emulator.hyperpod.slurm_rules import broken_slurm_rules, broken_slurm_update_rules

# GPU families are p*, g* (gr* among them); AWS Trainium families are trn*.
ACCELERATOR_FAMILIES = ("p", "g", "trn")
Spec = Mapping[str, Any]
IDLE_STRATEGIES = frozenset({"WhenIdle", "WhenAllIdle"})


def has_accelerator(instance_type: str) -> bool:
    """Say whether a type such as `ml.p5.48xlarge` has GPUs or Trainium chips."""
    return instance_type.removeprefix("ml.").startswith(ACCELERATOR_FAMILIES)


@dataclass(frozen=True, slots=True)
class GroupContext:
    """What the cluster is that a group belongs to."""

    eks: bool
    continuous: bool


def broken_group_rules(spec: Spec, context: GroupContext) -> Iterator[str]:
    """Yield a sentence for each rule that an instance group breaks."""
    name = spec["InstanceGroupName"]
    rules = (
        _instance_types(spec, context),
        _minimum_count(spec, context),
        _lifecycle(spec, context),
        _storage(spec),
        _deep_health_checks(spec),
        _capacity(spec),
        _patching(spec),
        _orchestrator(spec, context),
    )
    for rule in rules:
        for sentence in rule:
            yield f"Instance group '{name}': {sentence}"


def instance_types_of(spec: Spec) -> list[str]:
    """Return the types that a group may use, the preferred one first."""
    if "InstanceType" in spec:
        return [spec["InstanceType"]]
    return list(spec.get("InstanceRequirements", {}).get("InstanceTypes", []))


def _instance_types(spec: Spec, context: GroupContext) -> Iterator[str]:
    if ("InstanceType" in spec) == ("InstanceRequirements" in spec):
        yield "exactly one of InstanceType and InstanceRequirements must be specified."
    if "InstanceRequirements" in spec and not context.continuous:
        yield "InstanceRequirements is supported only with NodeProvisioningMode Continuous."
    types = instance_types_of(spec)
    if len(set(types)) != len(types):
        yield "InstanceRequirements.InstanceTypes must not contain duplicates."


def _minimum_count(spec: Spec, context: GroupContext) -> Iterator[str]:
    if "MinInstanceCount" not in spec:
        return
    if not context.continuous:
        yield "MinInstanceCount is supported only with NodeProvisioningMode Continuous."
    if spec["MinInstanceCount"] > spec["InstanceCount"]:
        yield "MinInstanceCount must not be greater than InstanceCount."


def _lifecycle(spec: Spec, context: GroupContext) -> Iterator[str]:
    lifecycle = spec.get("LifeCycleConfig")
    if lifecycle is None:
        return
    scripts = {"OnCreate", "OnInitComplete"} & set(lifecycle)
    if "SourceS3Uri" not in lifecycle or len(scripts) != 1:
        yield ("LifeCycleConfig needs SourceS3Uri and exactly one of OnCreate and OnInitComplete.")
    # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-getting-started-slurm-cli.html
    elif context.eks and "OnInitComplete" in scripts:
        yield "OnInitComplete is supported only with the Slurm orchestrator."


def _storage(spec: Spec) -> Iterator[str]:
    configs = spec.get("InstanceStorageConfigs", [])
    volumes = [config["EbsVolumeConfig"] for config in configs if "EbsVolumeConfig" in config]
    roots = [volume for volume in volumes if volume.get("RootVolume")]
    others = [volume for volume in volumes if not volume.get("RootVolume")]
    if len(roots) > 1 or len(others) > 1:
        yield "at most one root and one secondary EbsVolumeConfig may be specified."
    for root in roots:
        if "VolumeSizeInGB" in root:
            yield "VolumeSizeInGB must not be specified for a root volume."
        if "VolumeKmsKeyId" not in root:
            yield "VolumeKmsKeyId must be specified for a root volume."
    if any("VolumeSizeInGB" not in volume for volume in others):
        yield "VolumeSizeInGB must be specified for a secondary volume."


def _deep_health_checks(spec: Spec) -> Iterator[str]:
    if not spec.get("OnStartDeepHealthChecks"):
        return
    without = [name for name in instance_types_of(spec) if not has_accelerator(name)]
    if without:
        yield f"OnStartDeepHealthChecks is not supported for instance type {without[0]}."
    if spec.get("KubernetesConfig", {}).get("Taints"):
        yield "OnStartDeepHealthChecks cannot be combined with KubernetesConfig.Taints."


def _capacity(spec: Spec) -> Iterator[str]:
    requirements = spec.get("CapacityRequirements")
    if requirements is not None and len(requirements) != 1:
        yield "CapacityRequirements needs exactly one of Spot and OnDemand."


def _patching(spec: Spec) -> Iterator[str]:
    patching = spec.get("AutoPatchConfig")
    if patching is None:
        return
    strategy = patching["PatchingStrategy"]
    if "IdleWaitWindowInSeconds" in patching and strategy not in IDLE_STRATEGIES:
        yield f"IdleWaitWindowInSeconds is not supported with PatchingStrategy {strategy}."
    if "DrainPolicy" in patching and strategy != "DrainFirst":
        yield f"DrainPolicy is not supported with PatchingStrategy {strategy}."


def _orchestrator(spec: Spec, context: GroupContext) -> Iterator[str]:
    if context.eks and "SlurmConfig" in spec:
        yield "SlurmConfig is supported only with the Slurm orchestrator."
    if not context.eks and "KubernetesConfig" in spec:
        yield "KubernetesConfig is supported only with the Amazon EKS orchestrator."


def training_plan_problem(
    plan: TrainingPlan | None, spec: Mapping[str, Any], *, now: float
) -> str | None:
    """Return why an instance group cannot use the plan that it names (None: no such plan), or None.

    https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
    has the statuses: "Once the status is Scheduled, you can utilize the capacity". How the service
    words a refusal is not published.
    """
    if plan is None:
        return "does not exist."
    status = plan.status_at(now)
    if status not in USABLE:
        return f"cannot be used: its status is {status}."
    if HYPERPOD not in plan.offering.targets:
        return f"is for {', '.join(plan.offering.targets)}, not for {HYPERPOD}."
    types = instance_types_of(spec)
    if plan.offering.instance_type not in types:
        return f"is for {plan.offering.instance_type}, not for {', '.join(types)}."
    return None


Request = Mapping[str, Any]


def groups_of(request: Request) -> list[Mapping[str, Any]]:
    """Return the instance groups of a request, restricted ones last."""
    return [*request.get("InstanceGroups", []), *request.get("RestrictedInstanceGroups", [])]


def eks_cluster_arn(request: Request) -> str | None:
    """Return the ARN of the EKS cluster that orchestrates a cluster; None with Slurm."""
    arn: str | None = request.get("Orchestrator", {}).get("Eks", {}).get("ClusterArn")
    return arn


def validate_create(request: Request) -> None:
    """Refuse a CreateCluster request with the first rule that it breaks."""
    _refuse_first(_broken_create_rules(request))


def validate_update(request: Request, cluster: Cluster) -> None:
    """Refuse an UpdateCluster request with the first rule that it breaks for the cluster."""
    _refuse_first(_broken_update_rules(request, cluster))


def _refuse_first(sentences: Iterator[str]) -> None:
    sentence = next(sentences, None)
    if sentence is not None:
        raise validation_error(sentence)


def _broken_create_rules(request: Request) -> Iterator[str]:
    orchestrator = request.get("Orchestrator")
    eks = bool(orchestrator and "Eks" in orchestrator)
    continuous = request.get("NodeProvisioningMode") == CONTINUOUS
    if orchestrator is not None and len(orchestrator) != 1:
        yield "Orchestrator needs exactly one of Eks and Slurm."
    if eks and "VpcConfig" not in request:
        yield "VpcConfig must be specified for a cluster with the Amazon EKS orchestrator."
    yield from _broken_tag_rules(request)
    yield from _broken_autoscaling_rules(request)
    yield from _broken_groups_rules(request, GroupContext(eks=eks, continuous=continuous))
    yield from broken_slurm_rules(request, groups_of(request))


def _broken_update_rules(request: Request, cluster: Cluster) -> Iterator[str]:
    settings = cluster.settings
    orchestrator = settings.get("Orchestrator", {})
    wanted = request.get("Orchestrator", orchestrator)
    if wanted.get("Eks") != orchestrator.get("Eks"):
        yield "Orchestrator.Eks.ClusterArn cannot be changed after the cluster is created."
    # UpdateCluster has the member; what AWS answers here is not published.
    if "NodeProvisioningMode" in request and not cluster.continuous:
        yield "NodeProvisioningMode cannot be changed after the cluster is created."
    autoscaling = settings.get("AutoScaling", {}).get("Mode") == "Enable"
    role = request.get("ClusterRole", settings.get("ClusterRole"))
    if autoscaling and role != settings.get("ClusterRole"):
        yield "ClusterRole cannot be updated while autoscaling is enabled."
    yield from _broken_autoscaling_rules({**settings, **request})
    yield from _broken_deletion_rules(request, cluster)
    context = GroupContext(eks="Eks" in orchestrator, continuous=cluster.continuous)
    yield from _broken_groups_rules(request, context)
    for spec in groups_of(request):
        yield from _broken_immutability_rules(spec, cluster)
    yield from broken_slurm_update_rules(request, cluster)


def _broken_groups_rules(request: Request, context: GroupContext) -> Iterator[str]:
    names = Counter(spec["InstanceGroupName"] for spec in groups_of(request))
    for name, times in names.items():
        if times > 1:
            yield f"Instance group name '{name}' is used more than once; names must be unique."
    for spec in groups_of(request):
        yield from broken_group_rules(spec, context)


def _broken_deletion_rules(request: Request, cluster: Cluster) -> Iterator[str]:
    wanted = {spec["InstanceGroupName"] for spec in groups_of(request)}
    for name in request.get("InstanceGroupsToDelete", []):
        if name not in cluster.groups:
            yield f"Instance group '{name}' in InstanceGroupsToDelete does not exist."
        if name in wanted:
            yield f"Instance group '{name}' is both to be updated and to be deleted."


def _broken_immutability_rules(spec: Mapping[str, Any], cluster: Cluster) -> Iterator[str]:
    group = cluster.groups.get(spec["InstanceGroupName"])
    if group is None:
        return
    if spec.get("OverrideVpcConfig") != group.spec.get("OverrideVpcConfig"):
        yield f"Instance group '{group.name}': OverrideVpcConfig cannot be changed."
    for key in ("ExecutionRole", "ThreadsPerCore"):
        value = group.spec.get(key)
        if spec.get(key, value) != value:
            yield (
                f"Instance group '{group.name}': {key} must be the one that was specified when the "
                "group was created."
            )
    if _volume_keys(spec) != _volume_keys(group.spec):
        # https://docs.aws.amazon.com/sagemaker/latest/dg/smcluster-cmk.html
        yield f"Instance group '{group.name}': the KMS keys of its volumes cannot be changed."
    flexible = "InstanceRequirements" in spec and "InstanceRequirements" in group.spec
    if not flexible and instance_types_of(spec) != instance_types_of(group.spec):
        yield (
            f"Instance group '{group.name}': InstanceType must match the type that was specified "
            "when the group was created."
        )


def _volume_keys(spec: Mapping[str, Any]) -> dict[bool, str | None]:
    volumes = [each.get("EbsVolumeConfig") for each in spec.get("InstanceStorageConfigs", [])]
    keys = {
        volume.get("RootVolume", False): volume.get("VolumeKmsKeyId")
        for volume in volumes
        if volume
    }
    return {kind: key for kind, key in keys.items() if key}


def _broken_autoscaling_rules(request: Request) -> Iterator[str]:
    if request.get("AutoScaling", {}).get("Mode") != "Enable":
        return
    if request.get("NodeProvisioningMode") != CONTINUOUS:
        yield "AutoScaling is supported only with NodeProvisioningMode Continuous."
    if "ClusterRole" not in request:
        yield "ClusterRole must be specified when AutoScaling is enabled."


def _broken_tag_rules(request: Request) -> Iterator[str]:
    keys = Counter(tag["Key"] for tag in request.get("Tags", []))
    for key, times in keys.items():
        if times > 1:
            yield f"Tag key '{key}' is used more than once; tag keys must be unique."
        if key.lower().startswith("aws:"):
            yield f"Tag key '{key}': the prefix 'aws:' is reserved."


# Of a type that is not limited: as many as a group may have.
_PLENTY = 6758


def quotas_by_name(limits: Mapping[str, int]) -> dict[str, int]:
    """Return the quota of each instance type by its name in Service Quotas; of most, plenty.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
    """
    return {
        f"{name} for cluster{spot} usage": limits.get(name, _PLENTY)
        for name in instance_types()
        for spot in ("", " spot instance")
    }


def check_quotas(
    *, limits: Mapping[str, int], clusters: Iterable[Cluster], wanted: Mapping[str, int]
) -> None:
    """Refuse additional instances (negative: fewer) beyond the account's limits in the Region.

    A type without a limit is not limited.
    """
    used: Counter[str] = Counter()
    for cluster in clusters:
        for group in cluster.groups.values():
            used[group.instance_type] += group.target_count
    for instance_type, more in wanted.items():
        limit = limits.get(instance_type)
        if limit is not None and more > 0 and used[instance_type] + more > limit:
            message = (
                f"The account-level service limit '{instance_type} for cluster usage' is {limit} "
                f"Instances, with current utilization of {used[instance_type]} Instances and a "
                f"request delta of {more} Instances. Please use AWS Service Quotas to request an "
                "increase for this quota."
            )
            raise ApiError(code="ResourceLimitExceeded", message=message)
