"""The stacks of a deployment: which there are, what each holds, and what they are called."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.eks.section import DNS_ADDON, FSX_ADDON
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS
from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.hyperpod.placement import subnet_for
from hyperpod_cdk.observability.section import METRICS_ADDON
from hyperpod_cdk.schema.words import counted
from hyperpod_cdk.workloads.images import base_images
from hyperpod_shared.governance import ADDON as TASK_GOVERNANCE
from hyperpod_shared.owner import TAG_PREFIX

StackKind = Literal[
    "platform",
    "storage",
    "addons",
    "workloads",
    "hyperpod",
    "node-groups",
    "operators",
    "observability",
]

DEPLOYMENT_TAG = f"{TAG_PREFIX}deployment"
"""Key of the tag of a stack that has its deployment's name."""
_ADDONS = {
    **{addon.name: addon.says for addon in OPERATOR_ADDONS},
    DNS_ADDON: "CoreDNS",
    FSX_ADDON: "the FSx for Lustre CSI driver",
    TASK_GOVERNANCE: "task governance",
    METRICS_ADDON: "the HyperPod observability add-on",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Protection:
    """The termination protection that a configuration gives a stack."""

    says: str
    """What is said of the stack while it has it."""
    given_by: Callable[[Config], bool]
    lifted_by: Callable[[Config], str]
    """What in the configuration lifts it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class StackRow:
    """A stack of a deployment.

    Attributes:
        made_by: The file and the class that make it, by name: to read this table is quick, but the
            CDK, which that class is of, takes seconds to import.
        holds: What it is for, as its template describes it.
        holds_with_slurm: The same without Kubernetes. Default: the same.
        holds_without_cluster: The same without HyperPod. Default: the same.
        exists: Whether a configuration has it.
        says: What it deploys, a line each.
        follows: What it comes after besides the platform, and is deleted before; rows above it.
        has_outputs: Whether there is something in it that others look up.
        protection: What keeps it from being deleted, if the configuration can.
    """

    made_by: str
    holds: str
    exists: Callable[[Config], bool]
    says: Callable[[Config], Iterator[str]]
    follows: tuple[StackKind, ...] = ()
    has_outputs: bool = True
    protection: Protection | None = None
    holds_with_slurm: str | None = None
    holds_without_cluster: str | None = None

    def about(self, config: Config) -> str:
        """Return the description of its template."""
        of_eks, of_both, of_slurm = self.descriptions
        if not config.cluster.exists:
            return of_eks
        return of_slurm if config.control_plane is None else of_both

    @property
    def descriptions(self) -> tuple[str, str, str]:
        """Descriptions of its template: without HyperPod, with EKS and HyperPod, with Slurm."""
        return (
            f"EKS: {self.holds_without_cluster or self.holds}",
            f"HyperPod on EKS: {self.holds}",
            f"HyperPod with Slurm: {self.holds_with_slurm or self.holds}",
        )


def stack_name(config: Config, kind: StackKind) -> str:
    """Return the name of a stack."""
    return f"{config.name}-{kind}"


NODES: tuple[StackKind, ...] = ("hyperpod", "node-groups")
"""The stacks with nodes."""


def release_stack(config: Config) -> str:
    """Return the name of the stack with the Helm releases: that of the first nodes.

    With it, the releases and the nodes that need them go; its deletion begins with a check.
    """
    return stack_name(config, "hyperpod" if config.cluster.exists else "node-groups")


def cluster_arn_parameter(config: Config) -> str:
    """Return the name of the Systems Manager parameter that has the HyperPod cluster's ARN."""
    return f"hyperpod-{config.name}-cluster-arn"


def stack_names(config: Config) -> dict[StackKind, str]:
    """Return the names of a deployment's stacks by kind."""
    return {kind: stack_name(config, kind) for kind, row in STACKS.items() if row.exists(config)}


def description(config: Config) -> Iterator[str]:
    """Yield what a configuration deploys, each line beginning with its stack's name or blank."""
    names = stack_names(config)
    width = max(map(len, names.values())) + len("  ")
    for kind, name in names.items():
        for index, line in enumerate(STACKS[kind].says(config)):
            yield f"{'' if index else name:{width}}{line}"


def _platform(config: Config) -> Iterator[str]:
    place = config.region if config.region is not None else "the region of your environment"
    parts = [config.network.summary(endpoints=config.interface_endpoints)]
    if config.control_plane is not None:
        access = config.control_plane.endpoint_access.replace("_", " ")
        if config.control_plane.is_existing:
            parts.append(f"existing cluster {config.eks_cluster_name}")
        parts.append(f"EKS {config.control_plane.version} with a {access} endpoint")
    yield f"in {place}: {', '.join(parts)}"


def _storage(config: Config) -> Iterator[str]:
    storage, accounting = config.storage, config.cluster.accounting
    if accounting is not None and config.makes_accounting:
        yield accounting.summary
    if storage is None:
        return
    yield from (files.summary for _, files in storage.placed_files)
    if storage.dynamic_provisioning:
        yield "StorageClass fsx-dynamic, which makes a file system for each claim of users"


def _deletes_data(config: Config) -> str:
    keys = []
    if config.storage is not None or not config.makes_accounting:
        keys += ["storage.delete_with_stack", "storage.i_understand_all_files_are_deleted"]
    if config.makes_accounting:
        section = "cluster.slurm.accounting"
        keys += [f"{section}.delete_with_stack", f"{section}.i_understand_all_records_are_deleted"]
    return f"{' and '.join(keys)} to true"


def _addons(config: Config) -> Iterator[str]:
    yield " and ".join(_ADDONS[name] for name in config.addons_that_need_nodes)


def _workloads(config: Config) -> Iterator[str]:
    kinds = " and ".join(base.name for base in base_images(config.instance_types))
    place = "in the VPC" if config.builds_in_network else "outside the VPC"
    yield f"ECR repository {config.repository_name}, and a build {place} of its images: {kinds}"


def _operators(config: Config) -> Iterator[str]:
    yield ", ".join(_ADDONS[name] for name in config.addons_after_nodes)
    if config.governance is not None:
        yield f"quotas of the teams {', '.join(team.name for team in config.governed_teams)}"
    for metrics in (config.observability.prometheus, config.observability.grafana):
        if metrics is not None:
            yield metrics.summary


def _observability(config: Config) -> Iterator[str]:
    watched = config.observability
    for section in (watched.cloudwatch, watched.notifications, watched.budget):
        if section is not None:
            yield section.summary


def _node_groups(config: Config) -> Iterator[str]:
    release = "" if config.cluster.exists else f"Helm release {config.helm.release}, "
    yield f"{release}{counted(len(config.node_groups), 'EKS node group')}:"
    for group in config.node_groups:
        zone = group.availability_zone_id
        several = len(config.network.hyperpod_subnets) > 1
        place = f" in {zone}" if several and zone is not None else ""
        yield f"- {group.summary}{place}"


def _hyperpod(config: Config) -> Iterator[str]:
    groups = config.cluster.all_groups
    release = "" if config.control_plane is None else f"Helm release {config.helm.release}, "
    number = counted(len(groups), "instance group")
    yield f"{release}HyperPod cluster {config.cluster.name} with {number}:"
    for group in groups:
        types = " or ".join(group.possible_instance_types)
        role = group.execution_role_arn or config.cluster.execution_role_arn
        runs_as = "" if role is None else f", as {role.rpartition('/')[2]}"
        subnet = subnet_for(group, config.network)
        several = len(config.network.hyperpod_subnets) > 1
        place = f" in {subnet.zone}" if several and subnet is not None else ""
        slurm = group.slurm if isinstance(group, InstanceGroupConfig) else None
        in_slurm = "" if slurm is None else f", {slurm}"
        yield f"- {group.name}: {group.instance_count} x {types}{in_slurm}{place}{runs_as}"


STACKS: Mapping[StackKind, StackRow] = {
    "platform": StackRow(
        made_by="platform_stack:PlatformStack",
        holds="network, control plane, lifecycle bucket, roles, provisioner",
        holds_with_slurm="network, lifecycle bucket, roles, provisioner",
        holds_without_cluster="network, control plane, provisioner",
        exists=lambda _config: True,
        says=_platform,
        protection=Protection(
            says="has termination protection",
            given_by=lambda config: config.termination_protection,
            lifted_by=lambda _config: "termination_protection to false",
        ),
    ),
    "storage": StackRow(
        made_by="storage_stack:StorageStack",
        holds="FSx for Lustre and its claim",
        holds_with_slurm="FSx for Lustre",
        exists=lambda config: config.storage is not None or config.makes_accounting,
        says=_storage,
        protection=Protection(
            says="is protected, because it holds your files",
            given_by=lambda config: not config.data_goes_with_stack,
            lifted_by=_deletes_data,
        ),
    ),
    "addons": StackRow(
        made_by="addons_stack:AddonsStack",
        holds="EKS add-ons that need nodes",
        exists=lambda config: bool(config.addons_that_need_nodes),
        says=_addons,
        has_outputs=False,
    ),
    "workloads": StackRow(
        made_by="workloads_stack:WorkloadsStack",
        holds="images that jobs train in, and their build",
        exists=lambda config: config.workloads is not None,
        says=_workloads,
    ),
    "hyperpod": StackRow(
        made_by="hyperpod_stack:HyperPodStack",
        holds="Helm dependencies and HyperPod cluster",
        holds_with_slurm="HyperPod cluster",
        exists=lambda config: config.cluster.exists,
        says=_hyperpod,
    ),
    "node-groups": StackRow(
        made_by="node_groups_stack:NodeGroupsStack",
        holds="EKS node groups",
        holds_without_cluster="Helm dependencies and EKS node groups",
        exists=lambda config: bool(config.node_groups),
        says=_node_groups,
    ),
    "operators": StackRow(
        made_by="operators_stack:OperatorsStack",
        holds="add-ons that need nodes, task governance, and metrics",
        exists=lambda config: bool(config.addons_after_nodes),
        says=_operators,
        follows=("hyperpod", "node-groups"),
        has_outputs=False,
    ),
    "observability": StackRow(
        made_by="observability_stack:ObservabilityStack",
        holds="metrics, dashboards and messages",
        exists=lambda config: config.observability.has_stack,
        says=_observability,
    ),
}
"""By kind, in the order in which they are made and shown, and in which `cdk destroy --all` deletes
what no other needs: a protected storage stack stops it before the add-ons go."""
