"""What is next about task governance: pure, from what is found and what is wanted.

| found                                         | next                                             |
|-----------------------------------------------|--------------------------------------------------|
| no HyperPod cluster                           | waited for, then refused                         |
| a policy or a quota of a team, not ours       | refused                                          |
| ours, and not wanted                          | deleted; quotas before the policy                |
| absent                                        | created, when Kueue's webhook runs               |
| Creating, Updating, Deleting                  | waited for                                       |
| CreateFailed, DeleteFailed                    | deleted, then created                            |
| UpdateFailed, or it says something else       | updated, with the version that was read          |
| failed in this request, and not for a webhook | fails                                            |
| in force, and says what is wanted             | done, if it cannot be a read that is late        |

Quotas follow the policy. To delete: quotas, then the policy; what others made stays. A HyperPod
cluster that is gone has neither; of one that is Failed they are left after ten minutes.

A read is late by a while. It is taken for the truth when the request waits for longer than that,
or, unless the stack rolls back: when the request before wanted the same, or when it shows a later
version than `on_event` saw. What no list shows any more is gone when its deletion says so.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from hyperpod_shared.aws_errors import is_conflict, is_not_found, is_transient
from hyperpod_shared.errors import ProvisioningError
from hyperpod_shared.governance import GovernanceStatus, Noun, says
from provisioner.governance.found import Found, Item, Thing, Wanted

LATE_READ_SECONDS = 155.0
"""Longer than a read lags, after a run that was given up, which the stack's late events may hide
from it for 50 seconds."""
PATIENCE_SECONDS = 1200.0
"""For so long an object is made again that fails for a webhook."""
_LEFT_SECONDS = 600.0
# For so long what is in the way may go.
_LAST_SECONDS = 3000.0
# What is said of an object that Kueue's webhook could not judge yet.
_WEBHOOK = re.compile(
    r"(?i)webhook|no endpoints available|connection refused|deadline exceeded|x509|i/o timeout"
    r"|internal (server )?error|try again"
)
_AT_WORK = frozenset(
    {GovernanceStatus.CREATING, GovernanceStatus.UPDATING, GovernanceStatus.DELETING}
)
_NOT_DELETED = frozenset({GovernanceStatus.DELETE_FAILED, GovernanceStatus.DELETE_ROLLBACK_FAILED})
_NOT_MADE = frozenset(
    {
        GovernanceStatus.CREATE_FAILED,
        GovernanceStatus.CREATE_ROLLBACK_FAILED,
        *_NOT_DELETED,
    }
)
_NOT_CHANGED = frozenset({GovernanceStatus.UPDATE_FAILED, GovernanceStatus.UPDATE_ROLLBACK_FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class AskKueue:
    """Ask Kubernetes whether Kueue's webhook runs, then decide again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Create:
    """Make an object."""

    thing: Thing


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """Change an object of the version that was read."""

    thing: Thing
    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class Delete:
    """Delete an object; of one that no list shows, find out whether it is gone."""

    noun: Noun
    name: str
    identifier: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Look again later; `why` is for the log, and for who waits in vain."""

    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """Answer with success."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fail:
    """Answer with an error after something was changed."""

    error: ProvisioningError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """Answer with an error; nothing was changed."""

    error: ProvisioningError


Change = Create | Update | Delete
Step = AskKueue | Change | Wait | Done | Fail | Refuse


def decide(found: Found, wanted: Wanted) -> Step:
    """Return the next step."""
    if not found.cluster_arn:
        return _without_cluster(found, wanted)
    if not wanted.deletes:
        for item in found.items:
            if _is_in_the_way(item, wanted):
                return Refuse(error=_foreign(item, wanted))
    steps = list(_removals(found, wanted))
    if not wanted.deletes:
        steps += _made(found, wanted)
    for kind in (Fail, Change, Wait):
        for step in steps:
            if isinstance(step, kind):
                return _with_kueue(step, found)
    return Done()


def _without_cluster(found: Found, wanted: Wanted) -> Step:
    if wanted.deletes:
        return Done()
    name = wanted.cluster_name
    if found.waited < LATE_READ_SECONDS:
        return Wait(why=f"there is no HyperPod cluster {name}")
    error = ProvisioningError(
        f"There is no HyperPod cluster {name} for these quotas",
        next_step="Deploy the HyperPod stack first.",
    )
    return Refuse(error=error)


def _with_kueue(step: Step, found: Found) -> Step:
    if not isinstance(step, Create | Update) or found.kueue == "":
        return step
    return AskKueue() if found.kueue is None else Wait(why=found.kueue)


def _removals(found: Found, wanted: Wanted) -> Iterator[Step]:
    kept = frozenset() if wanted.deletes else {thing.key for thing in wanted.things}
    gone = [item for item in found.own if item.key not in kept]
    has_quotas = any(item.noun is Noun.QUOTA for item in gone)
    for item in gone:
        if item.noun is Noun.POLICY and has_quotas:
            yield Wait(why=f"the {item.noun.words} {item.name} goes after the quotas")
        else:
            yield from _removed(item, found, wanted)
    there = {item.key for item in found.own}
    asked = {thing.key for thing in wanted.things} if wanted.deletes else {*wanted.former}
    for key in sorted(asked - kept - there):
        yield from _absent(key, found, wanted)


def _removed(item: Item, found: Found, wanted: Wanted) -> Iterator[Step]:
    if found.cluster_failed and found.waited > _LEFT_SECONDS:
        return
    if item.key in found.touched or item.status in _AT_WORK:
        yield Wait(why=_state(item))
    elif _failed_now(item, wanted) and found.waited > PATIENCE_SECONDS:
        yield Fail(error=_failure(item, wanted))
    else:
        yield Delete(noun=item.noun, name=item.name, identifier=item.identifier)


def _made(found: Found, wanted: Wanted) -> Iterator[Step]:
    of_policy = _one(wanted.policy, found, wanted)
    if of_policy is not None:
        yield of_policy
        return
    for quota in wanted.quotas:
        step = _one(quota, found, wanted)
        if step is not None:
            yield step


def _one(thing: Thing, found: Found, wanted: Wanted) -> Step | None:  # noqa: PLR0911 - a table
    if thing.key in found.touched:
        return Wait(why=f"the {thing.noun.words} {thing.name} has just been changed")
    item = next((each for each in found.own if each.key == thing.key), None)
    if item is None:
        return Create(thing=thing)
    if item.status in _AT_WORK:
        return Wait(why=_state(item))
    if _is_final(item, found, wanted):
        return Fail(error=_failure(item, wanted))
    if item.status in _NOT_MADE:
        return Delete(noun=item.noun, name=item.name, identifier=item.identifier)
    if item.status in _NOT_CHANGED or not says(item.content, thing.content):
        return Update(thing=thing, item=item)
    if not _is_surely_so(thing, item, found, wanted):
        return Wait(why=f"what is read of the {thing.noun.words} {thing.name} may be late")
    return None


def _failed_now(item: Item, wanted: Wanted) -> bool:
    failed = item.status in _NOT_MADE | _NOT_CHANGED
    return failed and item.changed_at >= wanted.sent_at


def _is_final(item: Item, found: Found, wanted: Wanted) -> bool:
    """Say whether an object failed in this request, and will again."""
    if not _failed_now(item, wanted):
        return False
    if wanted.takes_back:
        return found.waited > _LAST_SECONDS
    return not _WEBHOOK.search(item.reason) or found.waited > PATIENCE_SECONDS


def _is_surely_so(thing: Thing, item: Item, found: Found, wanted: Wanted) -> bool:
    if found.waited >= LATE_READ_SECONDS:
        return True
    if wanted.takes_back:
        return False
    if wanted.former.get(thing.key) == thing.content:
        return True
    if wanted.glimpses is None:
        return False
    glimpse = wanted.glimpses.get(thing.key)
    return glimpse is None or item.version > glimpse.version


def _absent(key: str, found: Found, wanted: Wanted) -> Iterator[Step]:
    """Yield what is to be done about what no list shows: a list may be late, a deletion is not."""
    if found.waited >= LATE_READ_SECONDS or (key in found.gone and not wanted.takes_back):
        return
    noun, _, name = key.partition("/")
    glimpse = (wanted.glimpses or {}).get(key)
    if glimpse is None or {key} & (found.touched | found.gone) or wanted.takes_back:
        yield Wait(why=f"lists may not show {key} yet")
    else:
        yield Delete(noun=Noun(noun), name=name, identifier=glimpse.identifier)


def _is_in_the_way(item: Item, wanted: Wanted) -> bool:
    if item.is_ours or item.status == GovernanceStatus.DELETING:
        return False
    if item.noun is Noun.POLICY:
        return True
    return any(quota.name == item.name or quota.team == item.team for quota in wanted.quotas)


def _foreign(item: Item, wanted: Wanted) -> ProvisioningError:
    of_team = f", the quota of the team {item.team}," if item.team else ""
    return ProvisioningError(
        f"The HyperPod cluster {wanted.cluster_name} has the {item.noun.words} {item.name}"
        f"{of_team} that this stack did not make",
        next_step=f"If it is not needed: aws sagemaker delete-{item.noun.command} "
        f"--{item.noun.command}-id {item.identifier}; then deploy again. Or "
        + (
            "leave out governance."
            if item.noun is Noun.POLICY
            else "leave the quota of the team out of teams."
        ),
    )


def _state(item: Item) -> str:
    return f"the {item.noun.words} {item.name} is {item.status}"


def _failure(item: Item, wanted: Wanted) -> ProvisioningError:
    about = "policy" if item.noun is Noun.POLICY else f"quota of the team {item.team}"
    kueue = "kubectl -n kueue-system get pods shows Kueue"
    again = "delete the stack again" if wanted.deletes else "deploy again"
    command = f"{item.noun.command} --{item.noun.command}-id {item.identifier}"
    if item.status in _NOT_DELETED:
        # Each of these deletes it again; while it cannot be deleted, they fail as this one did.
        step = (
            f"Fix what the message names ({kueue}), then: aws sagemaker delete-{command}. Once "
            f"it is gone, {again}. If it stays {item.status}, ask AWS Support to remove it."
        )
    else:
        step = (
            f"Change the {about} in the section governance, or fix what the message names "
            f"({kueue}), then {again}."
        )
    return ProvisioningError(
        f"The {item.noun.words} {item.name} of the HyperPod cluster {wanted.cluster_name} is "
        f"{item.status}",
        detail=item.reason,
        next_step=step,
    )


def may_pass(step: Change, error: Exception, found: Found) -> bool:
    """Say whether an error is that of a late read, of an object at work or of a webhook."""
    if is_transient(error):
        raise error
    makes = isinstance(step, Create)
    if is_not_found(error):  # of a creation, the cluster, which is older
        return not makes or found.waited < LATE_READ_SECONDS
    if is_conflict(error):
        return not makes or found.waited < _LAST_SECONDS
    return bool(_WEBHOOK.search(str(error))) and found.waited < PATIENCE_SECONDS
