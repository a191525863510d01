"""What HyperPod keeps of a cluster, as it truly is, and how HyperPod conducts itself."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.provisioner.histories.world import Past

CONTINUOUS = "Continuous"
OPERATOR, SERVICE = "operator", "service"
FIRST_RELEASE = "1.0.0"
DEFAULT_AMI = "ami-default"


@dataclass(kw_only=True)
class Conduct:
    """How this history's HyperPod conducts itself.

    Attributes:
        update_seconds: How long an update takes, or until nodes are there.
        shows_updating: For how many seconds a continuous cluster shows Updating.
        failing_updates: The numbers of the updates, from 0, that a classic cluster takes back.
        failing_patches: The numbers of the patches, from 0, that fail.
        failing_creations: The numbers of the creations, from 0, that fail.
        short_of: The groups that never have more than so many nodes.
        refuses_tags: Whether a busy cluster refuses tags.
        removes_again: Whether a group that is being deleted may be named for deletion again.
        bare_nodes: Whether nodes that are launched have no InstanceStatus yet, which is optional.
        endless_pages: Whether the list of nodes names the same next page for ever.
        drift: How a Managed update ends when slurm.conf was edited by hand: `refused`, `conflict`,
            or `taken back`.
        forgets_strategy: Whether an update that names no strategy is Managed.
        fills_in: Whether defaults under Slurm are shown.
        failing_databases: Which accounting databases cannot be used.
        database_seconds: How long HyperPod looks at another accounting database.
        shows_early: Whether it is shown meanwhile.
        system_updates: When HyperPod updates the cluster itself, in seconds since the beginning.
    """

    create_seconds: float = 100.0
    update_seconds: float = 60.0
    patch_seconds: float = 60.0
    delete_seconds: float = 60.0
    shows_updating: float = 0.0
    failing_updates: tuple[int, ...] = ()
    failing_patches: tuple[int, ...] = ()
    failing_creations: tuple[int, ...] = ()
    short_of: tuple[tuple[str, int], ...] = ()
    refuses_tags: bool = False
    removes_again: bool = True
    bare_nodes: bool = False
    endless_pages: bool = False
    drift: str = "refused"
    forgets_strategy: bool = False
    fills_in: bool = False
    failing_databases: tuple[str, ...] = ()
    database_seconds: float = 60.0
    shows_early: bool = False
    system_updates: tuple[float, ...] = ()


@dataclass(kw_only=True)
class Group:
    """An instance group.

    Attributes:
        spec: What was requested last, without what is below.
        added_by: The request that added it, or the operator.
        counted_at: When.
        imaged_by: Who asked for its AMI last.
        software: The SoftwareUpdateStatus; None before the first patch.
        former_image: What a patch under way would fall back to.
        deleting: Whether it is being deleted.
        added_at: When it was added.
        named_by: Whose UpdateCluster named it.
        patched_by: Whose patches it got; each wipes the root volumes of its nodes.
        status: Its status, unless it is being deleted.
    """

    spec: dict[str, Any]
    target: int
    current: int
    release: str
    image: str
    added_by: object
    counted_by: object
    counted_at: float
    imaged_by: object
    software: str | None = None
    former_image: tuple[str, str] | None = None
    deleting: bool = False
    status: str = "InService"
    added_at: float = 0.0
    named_by: list[object] = field(default_factory=list)
    patched_by: list[object] = field(default_factory=list)

    def as_described(self) -> dict[str, Any]:
        release, image = self.former_image or (self.release, self.image)
        described = {
            **self.spec,
            "TargetCount": self.target,
            "CurrentCount": self.current,
            "Status": "Deleting" if self.deleting else self.status,
            "CurrentImageId": image,
            "DesiredImageId": self.image,
            "CurrentImageReleaseVersion": release,
            "DesiredImageReleaseVersion": self.release,
        }
        if self.software is not None:
            described["SoftwareUpdateStatus"] = self.software
        return described


@dataclass(kw_only=True)
class Cluster:
    """A cluster, as it truly is.

    Attributes:
        saved: What an update of a classic cluster would be taken back to.
        slurm: What Slurm is told; None under EKS.
        drifted: Whether slurm.conf was edited by hand.
        complaint: The FailureMessage of a cluster that has not failed.
    """

    name: str
    arn: str
    request: Mapping[str, Any]
    created_by: object
    created_at: datetime
    status: str = "Creating"
    recovery: str | None = None
    groups: dict[str, Group] = field(default_factory=dict)
    worked: bool = False
    tags: Past = field(default_factory=Past)
    events: list[dict[str, Any]] = field(default_factory=list)
    saved: dict[str, Any] | None = None
    busy_for: object = None
    taken_back_from: object = None
    taken_back_at: float = 0.0
    slurm: dict[str, Any] | None = None
    drifted: bool = False
    complaint: str = ""

    @property
    def continuous(self) -> bool:
        return self.request.get("NodeProvisioningMode") == CONTINUOUS

    @property
    def present(self) -> dict[str, Group]:
        """The groups that are not being deleted."""
        return {name: group for name, group in self.groups.items() if not group.deleting}

    def true_tags(self) -> dict[str, str]:
        """Return the tags as they are, whatever ListTags shows."""
        found: dict[str, str] = self.tags.read(float("inf"))
        return found


@dataclass(kw_only=True)
class Change:
    """A call that is going to change something, for the invariants."""

    operation: str
    request: object
    begun_at: float
    cluster: Cluster
    input: Mapping[str, Any]
