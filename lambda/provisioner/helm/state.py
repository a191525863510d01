"""The state machine of a Helm release, pure: what helm stores of it -> what to do next.

| release                                         | next step                                   |
|-------------------------------------------------|---------------------------------------------|
| absent                                          | upgrade --install                           |
| not ours                                        | refused, its owner named                    |
| begun and never deployed by a former stack of   | treated as ours: a Create that was killed   |
| our name, and no run can still work on it       | leaves this, and no Delete follows it       |
| deployed with the wanted content                | nothing                                     |
| deployed with other content, failed             | upgrade --install                           |
| failed, and what served before is as wanted     | roll back to it, then look again            |
| pending, another run may work on it             | wait, up to Lambda's longest invocation     |
| pending-install, its run was killed             | roll back to its own revision: helm then    |
|                                                 | completes it and, unlike uninstalling,      |
|                                                 | deletes nothing; then look again            |
| pending-upgrade or -rollback, its run was killed| roll back to what served, then look again   |
| uninstalling                                    | finish uninstalling, then look again        |

To delete:

| release                                         | next step                                   |
|-------------------------------------------------|---------------------------------------------|
| absent, its Create may not have begun it yet    | wait, up to Lambda's longest invocation     |
| absent, not ours                                | nothing                                     |
| pending, another run may work on it             | wait, up to Lambda's longest invocation     |
| any other state                                 | uninstall                                   |

Which run that is does not matter: CloudFormation stops no function and no waiter, and Lambda may
run one request twice. So each run marks what it begins as its own attempt, and takes what another
one began for left behind only when no invocation lasts that long.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.owner import RESOURCE_LABEL, STACK_LABEL, Owner, digest, owner_in_labels

CONTENT_LABEL = "hyperpod-cdk/content"
REQUEST_LABEL = "hyperpod-cdk/request"
ATTEMPT_LABEL = "hyperpod-cdk/attempt"

DEPLOYED = "deployed"
FAILED = "failed"
PENDING_INSTALL = "pending-install"
PENDING = frozenset({PENDING_INSTALL, "pending-upgrade", "pending-rollback"})
UNINSTALLING = "uninstalling"
LONGEST_INVOCATION_SECONDS = 900.0
"""Lambda's limit: a run that began longer ago has ended.

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""
_ROLLBACK_PREFERENCE = (DEPLOYED, "superseded", FAILED)
_ROLLED_BACK = re.compile(r"Rollback to (\d+)")


class Revision(NamedTuple):
    """One line of `helm history`."""

    number: int
    status: str
    chart: str
    description: str
    updated: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """A release as helm stores it: the labels of its last revision, its history, oldest first.

    The history is never empty.
    """

    name: str
    namespace: str
    labels: Mapping[str, str]
    revisions: tuple[Revision, ...]

    @property
    def last(self) -> Revision:
        """The revision whose status is the release's."""
        return self.revisions[-1]

    @property
    def serving(self) -> Revision | None:
        """The revision that was deployed last and not replaced since, if there is one."""
        deployed = [revision for revision in self.revisions if revision.status == DEPLOYED]
        return deployed[-1] if deployed else None

    @property
    def was_deployed(self) -> bool:
        """Whether any revision was deployed, as opposed to an install that never succeeded."""
        return any(revision.status not in {PENDING_INSTALL, FAILED} for revision in self.revisions)

    def description(self, found: Revision) -> str:
        """Return a revision's description; for a rollback, that of the revision it restored."""
        numbered = {revision.number: revision for revision in self.revisions}
        while target := _ROLLED_BACK.fullmatch(found.description):
            number = int(target[1])
            # A rollback goes back in time; anything else, or a pruned revision, is not followed.
            if number >= found.number or number not in numbered:
                break
            found = numbered[number]
        return found.description


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a request wants of a release.

    Attributes:
        content: A digest of chart and values.
        attempt: The id of this run of the request.
        now: When this run began, in seconds since the epoch.
    """

    owner: Owner
    request_id: str
    content: str
    attempt: str
    now: float

    @property
    def labels(self) -> dict[str, str]:
        """Labels for the revision: unlike a description they survive failure and rollback."""
        return {
            **self.owner.labels,
            CONTENT_LABEL: self.content,
            REQUEST_LABEL: digest(self.request_id),
            ATTEMPT_LABEL: self.attempt,
        }

    @property
    def description(self) -> str:
        """Description of the revision: an upgrade by hand replaces it."""
        return f"Content {self.content}"


class ReleaseAction(Enum):
    """What to do next about a release."""

    NOTHING = "nothing"
    WAIT = "wait"
    UPGRADE = "upgrade"
    UNINSTALL = "uninstall"
    ROLL_BACK = "roll back"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """An action, and for a rollback the revision to go back to."""

    action: ReleaseAction
    revision: int = 0


def decide(release: Release | None, wanted: Wanted, *, claimed: bool = False) -> Decision:
    """Return the next step towards the wanted release.

    `claimed` says that the release was found to be `is_abandoned` when the request began.

    Raises:
        ProvisioningError: The release belongs to another owner.
    """
    if release is None:
        return Decision(action=ReleaseAction.UPGRADE)
    if not claimed:
        refuse_foreign(release, wanted.owner)
    status = release.last.status
    if status == UNINSTALLING:
        return Decision(action=ReleaseAction.UNINSTALL)
    if status in PENDING:
        if may_run(release, wanted):
            return Decision(action=ReleaseAction.WAIT)
        return Decision(action=ReleaseAction.ROLL_BACK, revision=_served_last(release))
    serving, action = release.serving, ReleaseAction.UPGRADE
    if serving is not None and release.description(serving) == wanted.description:
        if serving is not release.last:
            return Decision(action=ReleaseAction.ROLL_BACK, revision=serving.number)
        action = ReleaseAction.NOTHING if is_deployed_as(release, wanted) else action
    return Decision(action=action)


def decide_deletion(release: Release | None, wanted: Wanted) -> Decision:
    """Return the next step towards no release."""
    if release is None or not wanted.owner.owns_labels(release.labels):
        return Decision(action=ReleaseAction.NOTHING)
    if release.last.status in PENDING and may_run(release, wanted):
        return Decision(action=ReleaseAction.WAIT)
    return Decision(action=ReleaseAction.UNINSTALL)


def refuse_foreign(release: Release, owner: Owner) -> None:
    """Refuse to touch a release that this owner did not make."""
    if not owner.owns_labels(release.labels):
        raise ProvisioningError(
            f"The Helm release {release.name} in namespace {release.namespace} exists already and "
            f"belongs to {owner_in_labels(release.labels)}",
            next_step="Choose another release name or namespace, or uninstall that release first: "
            f"helm uninstall {release.name} --namespace {release.namespace}",
        )


def is_deployed_as(release: Release, wanted: Wanted) -> bool:
    """Say whether the last revision is deployed with the wanted content."""
    return release.last.status == DEPLOYED and release.labels.get(CONTENT_LABEL) == wanted.content


def was_deployed_before(release: Release, wanted: Wanted) -> bool:
    """Say whether the wanted content was deployed before, as when CloudFormation rolls back."""
    return any(revision.description == wanted.description for revision in release.revisions[:-1])


def is_abandoned(release: Release | None, wanted: Wanted) -> bool:
    """Say whether a former stack of our name began the release and never deployed it."""
    if release is None or release.was_deployed:
        return False
    return (
        not wanted.owner.owns_labels(release.labels)
        and all(
            release.labels.get(name) == wanted.labels[name]
            for name in (STACK_LABEL, RESOURCE_LABEL)
        )
        and wanted.now - release.last.updated >= LONGEST_INVOCATION_SECONDS
    )


def may_run(release: Release, wanted: Wanted) -> bool:
    """Say whether the run that began the last revision, if not this one, may still work."""
    own_attempt = release.labels.get(ATTEMPT_LABEL) == wanted.attempt
    return not own_attempt and wanted.now - release.last.updated < LONGEST_INVOCATION_SECONDS


def _served_last(release: Release) -> int:
    for status in _ROLLBACK_PREFERENCE:
        for revision in reversed(release.revisions):
            if revision.status == status:
                return revision.number
    return release.last.number
