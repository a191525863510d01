"""What HyperPod refuses of instance groups and of their training plans.

Rules that one instance group must keep, beyond the service model.

Whether an instance group can use a training plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from emulator.hyperpod.simulation.training_plans import HYPERPOD, USABLE, TrainingPlan

# GPU families are p*, g* (gr* among them); AWS Trainium families are trn*.
ACCELERATOR_FAMILIES = ("p", "g", "trn")
Spec = Mapping[str, Any]
IDLE_STRATEGIES = frozenset({"WhenIdle", "WhenAllIdle"})


def has_accelerator(instance_type: str) -> bool:
    """Say whether a type such as `ml.p5.48xlarge` has GPUs or Trainium chips."""
    return instance_type.removeprefix("ml.").startswith(ACCELERATOR_FAMILIES)


@dataclass(frozen=True, slots=True)
class GroupContext:
    """What the cluster is that a group belongs to.

    Attributes:
        eks: Whether Amazon EKS orchestrates the cluster.
        continuous: Whether nodes are provisioned continuously.
    """

    eks: bool
    continuous: bool


def broken_group_rules(spec: Spec, context: GroupContext) -> Iterator[str]:
    """Yield a sentence for each rule that an instance group breaks."""
    name = spec["InstanceGroupName"]
    rules = (
        _instance_types(spec, context),
        _minimum_count(spec, context),
        _lifecycle(spec),
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


def _lifecycle(spec: Spec) -> Iterator[str]:
    lifecycle = spec.get("LifeCycleConfig")
    if lifecycle is None:
        return
    scripts = {"OnCreate", "OnInitComplete"} & set(lifecycle)
    if "SourceS3Uri" not in lifecycle or len(scripts) != 1:
        yield ("LifeCycleConfig needs SourceS3Uri and exactly one of OnCreate and OnInitComplete.")


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
    """Return why an instance group cannot use the plan that it names, or None.

    https://docs.aws.amazon.com/sagemaker/latest/dg/training-plan-details-using-api-cli-sdk.html
    has the statuses: "Once the status is Scheduled, you can utilize the capacity". How the service
    words a refusal is not published.

    Args:
        plan: The plan; None when there is none of that ARN.
        spec: The instance group.
        now: Time in epoch seconds.
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
