"""Task governance of a cluster: as it is found, and as a request wants it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from hyperpod_shared.governance import Noun, policy_name, quota_name
from provisioner.framework.properties import Properties, json_object, json_objects, parsed, text

Content = Mapping[str, Any]
"""Members of the Create and Update of an object, but for its name, cluster and description."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """An object as it is wanted."""

    noun: Noun
    name: str
    content: Content

    @property
    def key(self) -> str:
        """What stands for it."""
        return f"{self.noun}/{self.name}"

    @property
    def team(self) -> str | None:
        """The team of a quota."""
        return team_of(self.content)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item(Thing):
    """An object as it is described, with what HyperPod says of it.

    Attributes:
        version: Its version, which every change raises.
        changed_at: When it was last changed, in seconds since the epoch.
        is_ours: Whether the resource, or one of a former stack of its name, made it.
    """

    identifier: str
    version: int
    status: str
    reason: str
    changed_at: float
    is_ours: bool


def team_of(content: Content) -> str | None:
    """Return the team of a quota; None of what is none."""
    team: str | None = (content.get("ComputeQuotaTarget") or {}).get("TeamName")
    return team


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What there is.

    It is that of the cluster after `waited` seconds of the request, whoever made the items.

    Attributes:
        cluster_arn: The HyperPod cluster; empty if there is none, or none any more.
        kueue: What Kueue lacks to take quotas, empty if nothing; None if it was not asked.
        touched: Keys of what was changed since it was read.
        gone: Keys of what a deletion did not find any more.
    """

    waited: float
    items: tuple[Item, ...]
    cluster_arn: str
    cluster_failed: bool = False
    kueue: str | None = None
    touched: frozenset[str] = frozenset()
    gone: frozenset[str] = frozenset()

    @property
    def own(self) -> tuple[Item, ...]:
        """What the resource made."""
        return tuple(item for item in self.items if item.is_ours)


class Glimpse(NamedTuple):
    """What `on_event` saw of an object: its version, and its id."""

    version: int
    identifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a request wants.

    `former` is what was wanted before, by key; `glimpses` what `on_event` saw, None if not known.
    """

    deletes: bool
    cluster_name: str
    policy: Thing
    quotas: tuple[Thing, ...]
    former: Mapping[str, Content] = field(default_factory=dict)
    glimpses: Mapping[str, Glimpse] | None = None
    takes_back: bool = False
    sent_at: float = 0.0

    @property
    def things(self) -> tuple[Thing, ...]:
        """All of it, in the order in which it is made."""
        return (self.policy, *self.quotas)


def written(items: tuple[Item, ...]) -> dict[str, list[Any]]:
    """Return what is seen of objects as the journal has it."""
    return {item.key: [item.version, item.identifier] for item in items}


def read(seen: Mapping[str, list[Any]]) -> dict[str, Glimpse]:
    """Return what was seen of objects."""
    return {key: Glimpse(*glimpse) for key, glimpse in seen.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskGovernanceProperties(Properties):
    """The properties that the CDK app sets.

    The cluster is the EKS cluster, in which Kueue runs; the quotas are ComputeQuotaConfig and
    ComputeQuotaTarget of each team.
    """

    PHYSICAL_ID = "{0.hyperpod_cluster_name}/task-governance"

    cluster_name: str = parsed(text)
    hyperpod_cluster_name: str = parsed(text, name="HyperPodClusterName")
    scheduler_config: Mapping[str, Any] = parsed(json_object)
    quotas: tuple[dict[str, Any], ...] = parsed(json_objects)

    @property
    def policy(self) -> Thing:
        """The cluster policy."""
        return Thing(
            noun=Noun.POLICY,
            name=policy_name(self.hyperpod_cluster_name),
            content={"SchedulerConfig": self.scheduler_config},
        )

    @property
    def team_quotas(self) -> tuple[Thing, ...]:
        """The quotas."""
        return tuple(
            Thing(
                noun=Noun.QUOTA,
                name=quota_name(self.hyperpod_cluster_name, team_of(content) or ""),
                content={"ActivationState": "Enabled", **content},
            )
            for content in self.quotas
        )

    @property
    def things(self) -> tuple[Thing, ...]:
        """All of it, in the order in which it is made."""
        return (self.policy, *self.team_quotas)
