"""The steps that can follow a look at a cluster: each is one call at most, or an answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hyperpod_shared.errors import ProvisioningError
from provisioner.hyperpod.comparison import SoftwareUpdate
from provisioner.hyperpod.notes import Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class AskNodes:
    """List the nodes, then decide again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """Write and remove tags; the next step follows at once, and what is noted then."""

    add: Mapping[str, str]
    remove: Sequence[str] = ()
    notes: Notes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Create the cluster as it is wanted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateCluster:
    """Change the cluster by this input of UpdateCluster, without the cluster's name."""

    input: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateSoftware:
    """Give groups another AMI; the key stands for the call in the notes."""

    key: str
    update: SoftwareUpdate


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete the cluster."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Look again later; `why` is for the log."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Answer with success.

    Attributes:
        note: What is to be said besides what the cluster lacks.
        notes: What is noted of the cluster from now on; None for nothing new.
    """

    note: str = ""
    notes: Notes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Answer with the failure of the cluster, with what HyperPod says of its cause.

    `what` happened to the cluster is said after its name, None for its status; the next step is
    None for what suits the cause, and the group for any.

    Attributes:
        of_creation: Whether the creation failed, which is noted.
        explain: Whether HyperPod's events are asked for the cause.
    """

    what: str | None = None
    next_step: str | None = None
    of_creation: bool = False
    explain: bool = True
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """Answer with an error that is known already; nothing is changed."""

    error: ProvisioningError


Step = (
    AskNodes | Tag | Create | UpdateCluster | UpdateSoftware | Delete | Wait | Done | Fail | Refuse
)
