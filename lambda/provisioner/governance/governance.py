"""`Custom::TaskGovernance`: the cluster policy of a HyperPod cluster, and the quotas of teams.

| request        | on_event                   | is_complete                                   |
|----------------|----------------------------|-----------------------------------------------|
| Create, Update | the first step of `decide` | its further steps, all that are due at a poll |
| Delete         | the same                   | the same                                      |

What `on_event` saw goes along as the claim, so that a later read can be told from a late one.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from hyperpod_shared.aws_errors import (
    AWS_ERRORS,
    AwsClient,
    is_conflict,
    is_not_found,
    is_transient,
)
from hyperpod_shared.clusters import ClusterStatus
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from hyperpod_shared.governance import Noun
from provisioner.framework import log
from provisioner.framework.request import Request
from provisioner.framework.resource import DONE, Accepted, Progress
from provisioner.framework.turn import Turn
from provisioner.governance.api import GovernanceApi
from provisioner.governance.decision import (
    LAST_SECONDS,
    LATE_READ_SECONDS,
    PATIENCE_SECONDS,
    WEBHOOK,
    AskKueue,
    Change,
    Create,
    Delete,
    Done,
    Fail,
    Refuse,
    Step,
    Update,
    Wait,
    decide,
)
from provisioner.governance.found import Found, TaskGovernanceProperties, Wanted, read, written
from provisioner.kubernetes.cluster import EksConnection


@dataclass(frozen=True, kw_only=True)
class TaskGovernance:
    """Handles `Custom::TaskGovernance`."""

    properties_type = TaskGovernanceProperties
    sagemaker: AwsClient
    connection: Callable[[], EksConnection]

    def on_event(
        self, request: Request, properties: TaskGovernanceProperties, turn: Turn
    ) -> Accepted:
        """Make the first change, if one can be made now."""
        api, wanted = self._about(request, properties, turn)
        seen = _look(api)
        found, step = seen, decide(seen, wanted)
        if isinstance(step, AskKueue):
            found = replace(found, kueue=api.kueue())
            step = decide(found, wanted)
        if isinstance(step, Refuse):
            raise step.error
        if isinstance(step, Create | Update | Delete):
            _change(step, found, api)
        return Accepted(claim=written(seen.own))

    def is_complete(
        self, request: Request, properties: TaskGovernanceProperties, turn: Turn
    ) -> Progress:
        """Make the changes that are due, say whether all is done, or raise why it failed."""
        api, wanted = self._about(request, properties, turn)
        found = _look(api)
        while True:
            step: Step = decide(found, wanted)
            match step:
                case AskKueue():
                    found = replace(found, kueue=api.kueue())
                case Create() | Update() | Delete():
                    found = _change(step, found, api)
                case Wait(why=why):
                    raise NotReadyError(
                        f"Task governance of the HyperPod cluster {wanted.cluster_name} is not "
                        f"done: {why}",
                        next_step="See it in the HyperPod console (Policies), then deploy again.",
                    )
                case Fail(error=error) | Refuse(error=error):
                    raise error
                case Done():
                    return _answer(wanted)

    def _about(
        self, request: Request, properties: TaskGovernanceProperties, turn: Turn
    ) -> tuple[GovernanceApi, Wanted]:
        former = request.old_properties
        api = GovernanceApi(
            sagemaker=self.sagemaker,
            connection=self.connection(),
            cluster_name=properties.hyperpod_cluster_name,
            eks_cluster_name=properties.cluster_name,
            owner=request.owner,
            turn=turn,
        )
        before = () if former is None else TaskGovernanceProperties.parse(former).things
        wanted = Wanted(
            deletes=request.type == "Delete",
            cluster_name=properties.hyperpod_cluster_name,
            policy=properties.policy,
            quotas=properties.team_quotas,
            former={thing.key: thing.content for thing in before},
            glimpses=read(request.claim),
            takes_back=turn.takes_back,
            sent_at=turn.sent_at,
        )
        return api, wanted


def _look(api: GovernanceApi) -> Found:
    """Return what there is."""
    waited = api.turn.waited
    arn, status = api.cluster()
    return Found(
        waited=waited,
        items=api.items(arn) if arn else (),
        cluster_arn=arn,
        cluster_failed=status == ClusterStatus.FAILED,
    )


def _change(step: Change, found: Found, api: GovernanceApi) -> Found:
    """Make a change, or find that it cannot be made yet; return what is known then."""
    about = step if isinstance(step, Delete) else step.thing
    key = f"{about.noun}/{about.name}"
    log.info(type(step).__name__.lower(), kind=about.noun, name=about.name)
    try:
        match step:
            case Create(thing=thing):
                api.create(thing, found.cluster_arn)
            case Update(thing=thing, item=item):
                api.update(thing, item)
            case Delete(noun=noun, identifier=identifier):
                if not api.delete(noun, identifier):
                    return replace(found, gone=found.gone | {key}, touched=found.touched | {key})
    except AWS_ERRORS as error:
        if not _may_pass(step, error, found):
            raise _refused(step, error) from error
        log.info("not yet", kind=about.noun, name=about.name, cause=str(error))
    return replace(found, touched=found.touched | {key})


def _may_pass(step: Change, error: Exception, found: Found) -> bool:
    """Say whether an error is that of a late read, of an object at work or of a webhook."""
    if is_transient(error):
        raise error
    makes = isinstance(step, Create)
    if is_not_found(error):  # of a creation, the cluster, which is older
        return not makes or found.waited < LATE_READ_SECONDS
    if is_conflict(error):
        return not makes or found.waited < LAST_SECONDS
    return bool(WEBHOOK.search(str(error))) and found.waited < PATIENCE_SECONDS


def _refused(step: Change, error: Exception) -> ProvisioningError:
    about = step if isinstance(step, Delete) else step.thing
    verb = type(step).__name__.lower()
    return ProvisioningError(
        f"HyperPod refused to {verb} the {about.noun.words} {about.name}",
        detail=str(error),
        next_step="Change the section governance as the message says, then deploy again.",
    )


def _answer(wanted: Wanted) -> Progress:
    if wanted.deletes:
        return DONE
    names = ", ".join(quota.name for quota in wanted.quotas)
    return Progress(
        complete=True, data={str(Noun.POLICY): wanted.policy.name, "ComputeQuotas": names}
    )
