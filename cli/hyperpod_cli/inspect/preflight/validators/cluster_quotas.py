"""The quotas of HyperPod are enough for the cluster."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from botocore.exceptions import EndpointConnectionError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, KeyPath, Severity, Written, one_line, warning
from hyperpod_cli.inspect.preflight.quotas import (
    ACROSS_CLUSTERS,
    SPOT_ACROSS_CLUSTERS,
    Quota,
    ServiceQuotas,
    instances_in_use,
    type_quota,
)
from hyperpod_cli.inspect.preflight.validator import Phase, Problem, Problems, Target, validator

# Their codes are published for no region; the names are in the developer guide:
# https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html
PER_CLUSTER = "Maximum number instances allowed per SageMaker HyperPod cluster"
VOLUME_SIZE = "Maximum size of EBS volume in GB for a SageMaker HyperPod cluster instance"
_GROUPS: KeyPath = ("cluster", "instance_groups")


@dataclass(frozen=True, kw_only=True, slots=True)
class Need:
    """What a deployment adds to what a quota limits.

    The quota is None where Service Quotas has none of that name; `used` is what there is without
    the deployment, and the unit what is counted, if not what the key's value counts.
    """

    path: KeyPath
    quota: Quota | None
    used: int
    wanted: int
    severity: Severity = Severity.ERROR
    unit: str = ""

    def problem(self) -> Problem | None:
        """Return what is wrong; None for nothing."""
        needed = self.used + self.wanted
        if self.quota is None or not self.wanted or needed <= self.quota["Value"]:
            return None
        name, limit = self.quota["QuotaName"], self.quota["Value"]
        code = f"--service-code {self.quota['ServiceCode']} --quota-code {self.quota['QuotaCode']}"
        in_use = f" with {self.used} in use" if self.used else ""
        message = (
            f"is too much for the quota {name!r}, which is {limit:g}{in_use}; request {needed}: "
            f"aws service-quotas request-service-quota-increase {code} --desired-value {needed}"
        )
        command = f"aws service-quotas get-service-quota {code}"
        value = Written(f"{self.wanted} {self.unit}") if self.unit else self.wanted
        return Finding(
            path=self.path, value=value, message=message, severity=self.severity
        ), command


@validator(
    phase=Phase.QUOTAS,
    of_hyperpod=True,
    iam=[
        "sagemaker:ListClusters",
        "servicequotas:ListAWSDefaultServiceQuotas",
        "servicequotas:ListServiceQuotas",
    ],
)
def cluster_quotas(config: Config, target: Target) -> Problems:
    """Instances of a type or of clusters, or a volume's size, are beyond a quota; of a plan (w).

    HyperPod refuses the cluster with ResourceLimitExceeded. For a group on a training plan it is a
    warning: AWS does not say whether its instances count.

    https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateCluster.html

    Keys: cluster.instance_groups, cluster.instance_groups[].ebs_volumes[].volume_size_gib,
    cluster.instance_groups[].instance_count, cluster.instance_groups[].volume_size_gib, region

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-prerequisites.html)
    """
    yield from problems(_of_clusters(config, target), target)


def problems(needs: Iterator[Need], target: Target) -> Problems:
    """Yield what is wrong; a region without Service Quotas is told, since no one can change it.

    https://docs.aws.amazon.com/general/latest/gr/servicequotas.html
    """
    try:
        listed = list(needs)
    except EndpointConnectionError as unreachable:
        message = f"does not answer for quotas, so none is compared: {one_line(unreachable)}"
        finding = warning(("region",), target.region, message)
        yield finding, "aws service-quotas list-services"
        return
    yield from filter(None, (need.problem() for need in listed))


def _of_clusters(config: Config, target: Target) -> Iterator[Need]:
    quotas = ServiceQuotas(client=target.client("service-quotas"))
    used = instances_in_use(config, target)
    yield from _of_types(config, quotas, used)
    yield from _of_sums(config, quotas, used)
    yield from _of_volumes(config, quotas)


def _of_types(config: Config, quotas: ServiceQuotas, used: Counter[str]) -> Iterator[Need]:
    """Yield the need of each type and kind of capacity, at its first group.

    A group of several types takes what there is, so none of them is needed.
    """
    wanted = Counter[str]()
    first: dict[str, KeyPath] = {}
    planned = set()
    for where, group in config.cluster.groups_with_paths():
        if len(group.possible_instance_types) > 1:
            continue
        [instance_type] = group.possible_instance_types
        name = type_quota(instance_type, is_spot=_is_spot(group))
        wanted[name] += group.instance_count
        first.setdefault(name, (*where, "instance_count"))
        if group.training_plan_arn is not None:
            planned.add(name)
    for name, count in wanted.items():
        yield Need(
            path=first[name],
            quota=quotas.by_name("sagemaker", name),
            used=used[name],
            wanted=count,
            severity=Severity.WARNING if name in planned else Severity.ERROR,
        )


def _of_sums(config: Config, quotas: ServiceQuotas, used: Counter[str]) -> Iterator[Need]:
    groups = config.cluster.all_groups
    count = sum(group.instance_count for group in groups)
    spot = sum(group.instance_count for group in groups if _is_spot(group))
    # Of a single cluster, none is in use by others.
    wanted = {PER_CLUSTER: count, ACROSS_CLUSTERS: count, SPOT_ACROSS_CLUSTERS: spot}
    for name, number in wanted.items():
        quota = quotas.by_name("sagemaker", name)
        yield Need(path=_GROUPS, quota=quota, used=used[name], wanted=number)


def _of_volumes(config: Config, quotas: ServiceQuotas) -> Iterator[Need]:
    """Yield the need of each volume, of which the quota limits every one."""
    quota = quotas.by_name("sagemaker", VOLUME_SIZE)
    for where, group in config.cluster.groups_with_paths():
        sizes: dict[KeyPath, int | None] = {(*where, "volume_size_gib"): group.volume_size_gib}
        for index, volume in enumerate(group.ebs_volumes):
            sizes[(*where, "ebs_volumes", index, "volume_size_gib")] = volume.volume_size_gib
        for path, size in sizes.items():
            yield Need(path=path, quota=quota, used=0, wanted=size or 0)


def _is_spot(group: object) -> bool:
    return bool(getattr(group, "is_spot", False))
