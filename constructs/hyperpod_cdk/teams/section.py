"""The `teams` section: who shares the cluster, with what of it, and what keeps them apart."""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from hyperpod_cdk.eks.section import (
    EditorsConfig,
    StorageGib,
    UserIdsConfig,
    listed_once,
    namespace_findings,
)
from hyperpod_cdk.helm.section import Namespace
from hyperpod_cdk.hyperpod.group_types import InstanceType
from hyperpod_cdk.schema.arns import PrincipalArn
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cdk.schema.limits import (
    ApiLimits,
    GovernedName,
    ListLimits,
    is_token,
    listed_twice,
    same_names,
)
from hyperpod_cdk.schema.section import Api, Listed, Section, judged, members
from hyperpod_cdk.storage.claim_section import ClaimConfig, Directory
from hyperpod_shared.governance import namespace_of

_MOST_AMOUNT = 10_000_000
# The API takes up to 10000, and documents 1 to 500.
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ResourceSharingConfig.html
_MOST_BORROWED = 500
_BORROWED = 50
"""HyperPod's default, which is sent: an update that leaves it out keeps the former one."""
LEND_AND_BORROW: Final = "LendAndBorrow"
# A million blocks of a thousand, above the users of images and of Linux distributions.
_FIRST_USER, _BLOCKS, _USERS = 1_000_000, 1_000_000, 1000

Amount = Annotated[int, Field(ge=1, le=_MOST_AMOUNT)]
Weight = Annotated[int, ApiLimits(shape_name="sagemaker.FairShareWeight", noun="a weight")]


class PartitionQuotaConfig(Section):
    """Parts of GPUs that are divided by MIG."""

    type: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.MIGProfileType", noun="a MIG profile"),
        Api("Type"),
        Field(examples=["mig-2g.10gb"]),
    ]
    """MIG profile, such as mig-1g.5gb."""

    count: Annotated[Amount, Api("Count"), Field(examples=[4])]
    """How many of them."""


class QuotaConfig(Section):
    """What a team may use of one instance type: whole nodes, accelerators, or a share of a node."""

    instance_type: Annotated[InstanceType, Api("InstanceType"), Field(examples=["ml.g5.12xlarge"])]
    """Instance type of one of the cluster's groups, such as ml.p5.48xlarge."""

    nodes: Annotated[Amount | None, Api("Count"), Field(examples=[2])] = None
    """Whole nodes. Default: none."""

    accelerators: Annotated[Amount | None, Api("Accelerators"), Field(examples=[4])] = None
    """GPUs or Trainium devices, with the same share of the nodes' vCPUs and memory, unless these
    are also set. Default: none."""

    vcpus: Annotated[Amount | None, Api("VCpu"), Field(examples=[8])] = None
    """vCPUs. Default: by HyperPod, in proportion to the accelerators."""

    memory_gib: Annotated[Amount | None, Api("MemoryInGiB"), Field(examples=[32])] = None
    """Memory in GiB. Default: by HyperPod, in proportion to the accelerators."""

    partition: Annotated[PartitionQuotaConfig | None, Api("AcceleratorPartition")] = None
    """Parts of GPUs, in groups that are divided by MIG. Default: none."""

    def _findings(self) -> Iterator[Finding]:
        parts = ("accelerators", "vcpus", "memory_gib", "partition")
        given = [key for key in parts if getattr(self, key) is not None]
        if self.nodes is None and not given:
            message = "is missing: give nodes, accelerators, vcpus, memory_gib or a partition"
            yield error(("nodes",), None, message)
        if self.nodes is not None and given:
            message = f"must be left out with {given[0]}: a quota is in nodes or in parts of them"
            yield error(("nodes",), self.nodes, message)
        if self.accelerators is not None and self.partition is not None:
            message = "must be left out with accelerators: a GPU is whole or divided"
            yield error(("partition",), self.partition.type, message)


class TeamConfig(Section):
    """A team: namespaces, people, quota, files and users, apart from those of others."""

    name: Annotated[GovernedName, Field(examples=["research"])]
    """Name of the team."""

    namespaces: Annotated[
        Listed[Namespace], judged(namespace_findings), Field(examples=[["research-dev"]])
    ] = Field(default_factory=lambda data: (namespace_of(data.get("name", "")),))
    """Namespaces, which are made if they do not exist, and kept. Default: hyperpod-ns-<name>, where
    HyperPod queues the jobs of a quota."""

    editors: Annotated[Listed[PrincipalArn], judged(listed_once)] = ()
    """ARNs of IAM roles and users that run jobs there, as by eks.editors. Default: admins only."""

    viewers: Annotated[Listed[PrincipalArn], judged(listed_once)] = ()
    """ARNs of IAM roles and users that look on there, as by eks.viewers. Default: none."""

    quota: Annotated[
        Listed[QuotaConfig],
        ListLimits(
            shape_name="sagemaker.ComputeQuotaResourceConfigList",
            noun="instance types",
        ),
    ] = ()
    """Compute that is reserved for the team, by instance type; needs governance. Default: none."""

    weight: Annotated[Weight, Field(examples=[50])] = 0
    """Its share of idle compute, relative to the weights of the other teams, 0 to 100. Default:
    0."""

    sharing: Literal["DontLend", "Lend", "LendAndBorrow"] = LEND_AND_BORROW
    """DontLend: nobody else uses its quota. Lend: other teams may use its idle quota.
    LendAndBorrow: it also uses the idle quota of other teams. Default: LendAndBorrow."""

    borrow_limit_percent: Annotated[
        Annotated[int, Field(ge=1, le=_MOST_BORROWED)] | None, Field(examples=[100])
    ] = None
    """How much it may borrow, as a percentage of its quota, 1 to 500. Default: 50, HyperPod's."""

    preempt_own_jobs: bool = True
    """Whether its jobs are preempted by its own jobs of higher priority. Default: true."""

    directory: Annotated[Directory | None, Field(examples=["/teams/research"])] = Field(
        default_factory=lambda data: f"/{data.get('name', 'team')}"
    )
    """Directory of the shared file system that the claim fsx-claim of each namespace shows as the
    whole. It is made, and given to the first of user_ids alone. Cannot be changed later. Default:
    /<name>; null for no claim."""

    dynamic_storage_gib: StorageGib = EditorsConfig.model_fields["dynamic_storage_gib"].default
    """Limit of dynamic storage in each namespace, in GiB, as in eks.editors. Default: 4800."""

    public: bool = False
    """Consent: whether the internet may reach its pods, as in eks.editors. Default: false."""

    user_ids: Annotated[UserIdsConfig, Field(examples=[{"first": 20000, "count": 100}])] = Field(
        default_factory=lambda data: user_ids_of(data.get("name", ""))
    )
    """Users that pods with a claim run as. Default: 1000 that follow from the name."""

    trust: Literal["shared"] | None = None
    """shared: its pods, and those of other teams that say so, reach each other. Default: none."""

    @property
    def access(self) -> EditorsConfig:
        """Its namespaces as an entry of `eks.editors` is."""
        return TeamNamespaces(
            of_team=self.name,
            namespaces=self.namespaces,
            principals=self.editors,
            of_viewers=self.viewers,
            public=self.public,
            dynamic_storage_gib=self.dynamic_storage_gib,
            of_users=self.user_ids,
            is_trusting=self.trust is not None,
        )

    @property
    def claims(self) -> tuple[ClaimConfig, ...]:
        """The claims of its directory, one in each namespace."""
        return tuple(
            TeamClaim(
                namespace=name,
                directory=self.directory,
                of_team=self.name,
                of_user=self.user_ids.first,
            )
            for name in (self.namespaces if self.directory is not None else ())
        )

    @property
    def borrows_percent(self) -> int | None:
        """How much it may borrow, in percent of its quota; None if it borrows nothing."""
        if self.sharing != LEND_AND_BORROW:
            return None
        return self.borrow_limit_percent or _BORROWED

    def _findings(self) -> Iterator[Finding]:
        for key in ("weight", "sharing", "borrow_limit_percent", "preempt_own_jobs"):
            if not self.quota and key in self.model_fields_set:
                message = "must be left out: it is of a quota, and the team has none"
                yield error((key,), getattr(self, key), message)
        if self.borrow_limit_percent is not None and self.sharing != LEND_AND_BORROW:
            message = f"must be left out: with sharing {self.sharing} the team borrows nothing"
            yield error(("borrow_limit_percent",), self.borrow_limit_percent, message)
        yield from listed_twice(
            [each.instance_type for each in self.quota],
            message="must be there once in a team's quota",
            of=("quota",),
            key="instance_type",
        )
        queued = namespace_of(self.name)
        is_known = not any(map(is_token, self.namespaces))
        if self.quota and is_known and queued not in self.namespaces:
            message = f"must name {queued} too, where HyperPod queues the jobs of its quota"
            yield error(("namespaces",), [*self.namespaces], message)

    def to_request(self) -> dict[str, Any]:
        """Return the ComputeQuotaConfig and ComputeQuotaTarget of a CreateComputeQuota."""
        return members(
            {
                "ComputeQuotaConfig.ComputeQuotaResources": self.quota,
                "ComputeQuotaConfig.ResourceSharingConfig.Strategy": self.sharing,
                "ComputeQuotaConfig.ResourceSharingConfig.BorrowLimit": self.borrows_percent,
                "ComputeQuotaConfig.PreemptTeamTasks": (
                    "LowerPriority" if self.preempt_own_jobs else "Never"
                ),
                "ComputeQuotaTarget.TeamName": self.name,
                "ComputeQuotaTarget.FairShareWeight": self.weight,
            }
        )


class TeamNamespaces(EditorsConfig):
    """The namespaces of a team, which may have no editors."""

    of_team: str
    principals: Listed[PrincipalArn] = ()
    of_viewers: Listed[PrincipalArn] = ()
    of_users: UserIdsConfig
    is_trusting: bool

    @property
    def team(self) -> str:
        """The team."""
        return self.of_team

    @property
    def viewers(self) -> tuple[str, ...]:
        """Who sees the objects in the namespaces."""
        return self.of_viewers

    @property
    def user_ids(self) -> UserIdsConfig:
        """The users that pods with claims run as."""
        return self.of_users

    @property
    def shares_trust(self) -> bool:
        """Whether pods of its namespaces, and of others that say so, reach each other."""
        return self.is_trusting


class TeamClaim(ClaimConfig):
    """A claim whose directory belongs to a user."""

    of_team: str
    of_user: int

    @property
    def team(self) -> str:
        """The team whose directory it shows."""
        return self.of_team

    @property
    def owner(self) -> int:
        """The user that the directory is given to, and closed to others."""
        return self.of_user


def user_ids_of(name: str) -> UserIdsConfig:
    """Return the users of a team by default, which other teams do not change."""
    block = int(hashlib.sha256(name.encode()).hexdigest(), 16) % _BLOCKS
    return UserIdsConfig(first=_FIRST_USER + block * _USERS, count=_USERS)


def team_findings(teams: Sequence[TeamConfig]) -> Iterator[Finding]:
    """Find what two teams have in common that is one team's."""
    yield from same_names(teams)
    owners: dict[str, str] = {}
    for index, team in enumerate(teams):
        for position, namespace in enumerate(team.namespaces):
            owner = owners.setdefault(namespace, team.name)
            if owner != team.name:
                message = f"is a namespace of the team {owner}; give each team its own"
                yield error((index, "namespaces", position), namespace, message)
    for (_, one), (index, other) in combinations(enumerate(teams), 2):
        if one.name == other.name:
            continue
        if one.user_ids.meets(other.user_ids):
            message = (
                f"meets the users {one.user_ids} of the team {one.name}; set user_ids of one of "
                "them to others, such as {first: 20000, count: 1000}"
            )
            yield error((index, "user_ids"), str(other.user_ids), message)
        if _overlap(one.directory, other.directory):
            message = f"overlaps {one.directory} of the team {one.name}; give each team its own"
            yield error((index, "directory"), other.directory, message)


def _overlap(one: str | None, other: str | None) -> bool:
    if one is None or other is None:
        return False
    return f"{one}/".startswith(f"{other}/") or f"{other}/".startswith(f"{one}/")
