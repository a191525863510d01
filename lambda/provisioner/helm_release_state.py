"""The state machine of a Helm release, pure: what helm knows of it → what to do next.

| release                             | wanted       | next                                        |
|-------------------------------------|--------------|---------------------------------------------|
| absent                              | any          | upgrade --install                           |
| not ours                            | any          | refused, its owner named                    |
| deployed by us, same content        | same         | nothing                                     |
| deployed otherwise, failed          | any          | upgrade --install                           |
| pending, begun by this very request | any          | wait: a copy of this request is at work,    |
|                                     |              | unless it began longer ago than it can live |
| pending-install, left behind        | any          | uninstall, then look again                  |
| pending-upgrade or -rollback, left  | any          | roll back to what served, then look again   |
| uninstalling                        | any          | finish uninstalling, then look again        |

CloudFormation sends a resource one request at a time, so a pending state that an earlier request
began was left by a killed process and nobody works on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from provisioner.errors import ProvisioningError
from provisioner.owner import Owner, digest, owner_in_labels

CONTENT_LABEL = "hyperpod-cdk/content"
REQUEST_LABEL = "hyperpod-cdk/request"

DEPLOYED = "deployed"
FAILED = "failed"
PENDING_INSTALL = "pending-install"
PENDING = frozenset({PENDING_INSTALL, "pending-upgrade", "pending-rollback"})
UNINSTALLING = "uninstalling"
LONGEST_INVOCATION_SECONDS = 900.0
"""Lambda's limit: whoever began longer ago has been killed."""
_ROLLBACK_PREFERENCE = (DEPLOYED, "superseded", FAILED)


class Revision(NamedTuple):
    """One line of ``helm history``."""

    number: int
    status: str
    chart: str
    description: str
    updated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release as helm stores it.

    Args:
        name: The release's name.
        namespace: Where helm stores it.
        labels: The labels given to its last revision.
        revisions: Its history, oldest first; never empty.
    """

    name: str
    namespace: str
    labels: Mapping[str, str]
    revisions: tuple[Revision, ...]

    @property
    def last(self) -> Revision:
        """The revision that helm's status speaks of."""
        return self.revisions[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a request wants of a release.

    Args:
        owner: Who asks.
        request_id: Which request asks.
        content: Stands for chart and values.
        now: When it asks, in seconds since the epoch.
    """

    owner: Owner
    request_id: str
    content: str
    now: float

    @property
    def labels(self) -> dict[str, str]:
        """Labels for the revision: unlike a description they survive failure and rollback."""
        return {
            **self.owner.labels,
            CONTENT_LABEL: self.content,
            REQUEST_LABEL: digest(self.request_id),
        }

    @property
    def description(self) -> str:
        """Description of the revision: anybody else's change of the release replaces it."""
        return f"Content {self.content}"


class Action(Enum):
    """What to do next about a release."""

    NOTHING = "nothing"
    WAIT = "wait"
    UPGRADE = "upgrade"
    UNINSTALL = "uninstall"
    ROLL_BACK = "roll back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An action, and for a rollback the revision to go back to."""

    action: Action
    revision: int = 0


def decide(release: Release | None, wanted: Wanted) -> Decision:
    """Return the next step towards the wanted release.

    Raises:
        ProvisioningError: The release belongs to somebody else.
    """
    if release is None:
        return Decision(action=Action.UPGRADE)
    refuse_foreign(release, wanted.owner)
    if release.last.status in PENDING and is_at_work(release, wanted):
        return Decision(action=Action.WAIT)
    if release.last.status in {PENDING_INSTALL, UNINSTALLING}:
        return Decision(action=Action.UNINSTALL)
    if release.last.status in PENDING:
        return Decision(action=Action.ROLL_BACK, revision=_served_last(release))
    if is_deployed_as(release, wanted) and release.last.description == wanted.description:
        return Decision(action=Action.NOTHING)
    return Decision(action=Action.UPGRADE)


def refuse_foreign(release: Release, owner: Owner) -> None:
    """Refuse to touch a release that this owner did not make.

    Raises:
        ProvisioningError: The release belongs to somebody else.
    """
    if not owner.owns_labels(release.labels):
        raise ProvisioningError(
            f"The Helm release {release.name} in namespace {release.namespace} exists already and "
            f"belongs to {owner_in_labels(release.labels)}",
            next_step="Choose another release name or namespace, or uninstall that release first.",
        )


def is_at_work(release: Release, wanted: Wanted) -> bool:
    """Say whether a copy of this very request may be working on the release."""
    same_request = release.labels.get(REQUEST_LABEL) == wanted.labels[REQUEST_LABEL]
    return same_request and wanted.now - release.last.updated < LONGEST_INVOCATION_SECONDS


def is_deployed_as(release: Release, wanted: Wanted) -> bool:
    """Say whether the last revision is deployed with the wanted content."""
    return release.last.status == DEPLOYED and release.labels.get(CONTENT_LABEL) == wanted.content


def _served_last(release: Release) -> int:
    for status in _ROLLBACK_PREFERENCE:
        for revision in reversed(release.revisions):
            if revision.status == status:
                return revision.number
    return release.last.number
