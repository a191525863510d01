"""`Custom::TaskGovernance`: the cluster policy of a HyperPod cluster, and the quotas of teams.

| request        | on_event                   | is_complete                                   |
|----------------|----------------------------|-----------------------------------------------|
| Create, Update | the first step of `decide` | its further steps, all that are due at a poll |
| Delete         | the same                   | the same                                      |

What `on_event` saw is noted in the journal, so that a later read can be told from a late one.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from hyperpod_shared.aws_errors import (
    AWS_ERRORS,
    AwsClient,
    or_none,
)
from hyperpod_shared.clusters import ClusterStatus
from hyperpod_shared.errors import NotReadyError, ProvisioningError
from hyperpod_shared.governance import (
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
    GovernanceStatus,
    Noun,
    is_marked_by,
    mark_of,
)
from provisioner.framework import log
from provisioner.framework.operation import StackPhase
from provisioner.framework.resource import DONE, Accepted, Progress
from provisioner.framework.retry import Answer, aws_pages, aws_retried
from provisioner.framework.turn import Turn
from provisioner.governance import decision
from provisioner.governance.found import (
    Found,
    Item,
    TaskGovernanceProperties,
    Thing,
    Wanted,
    read,
    written,
)
from provisioner.kubernetes.cluster import EksConnection
from provisioner.kubernetes.failures import CommandFailedError

_A_PAGE = 100
_COMMAND_SECONDS = 30.0
_CONTENT = {
    Noun.POLICY: ("SchedulerConfig",),
    Noun.QUOTA: ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceApi:
    """Task governance of one HyperPod cluster. Each method raises what SageMaker refuses it with.

    Kueue runs in the EKS cluster.
    """

    sagemaker: AwsClient
    connection: EksConnection
    properties: TaskGovernanceProperties
    turn: Turn

    def cluster(self) -> tuple[str, str]:
        """Return the ARN and the status of the cluster; empty of one that goes, or is gone."""
        describe = partial(
            self.sagemaker.describe_cluster, ClusterName=self.properties.hyperpod_cluster_name
        )
        described = or_none(lambda: self._call(describe))
        if described is None:
            return "", ""
        status = described["ClusterStatus"]
        return "" if status == ClusterStatus.DELETING else described["ClusterArn"], status

    def items(self, cluster_arn: str) -> tuple[Item, ...]:
        """Return the policies and quotas of the cluster, but for those that are deleted."""
        return tuple(item for noun in Noun for item in self._items(noun, cluster_arn))

    def create(self, thing: Thing, cluster_arn: str) -> None:
        """Make an object of the cluster."""
        made = {"Name": thing.name, "ClusterArn": cluster_arn, **self._said(thing)}
        self.turn.change(self._operation("create", thing.noun, **made))

    def update(self, thing: Thing, item: Item) -> None:
        """Change an object, unless it has another version by now."""
        of_item = {f"{thing.noun}Id": item.identifier, "TargetVersion": item.version}
        self.turn.change(self._operation("update", thing.noun, **of_item, **self._said(thing)))

    def delete(self, noun: Noun, identifier: str) -> bool:
        """Delete an object; say whether there was one."""
        call = self._operation("delete", noun, **{f"{noun}Id": identifier})
        return or_none(lambda: self.turn.change(call)) is not None

    def kueue(self) -> str:
        """Return what Kueue lacks to take quotas; empty if nothing."""
        described = self.connection.describe(self.properties.cluster_name, self.turn.clock)
        try:
            with self.connection.connect(described, namespace=KUEUE_NAMESPACE) as commands:
                kubectl = commands.kubectl(timeout_seconds=_COMMAND_SECONDS)
                found = kubectl.objects("deployments", namespace=KUEUE_NAMESPACE)
        except CommandFailedError as error:
            return f"the Kubernetes API does not say whether Kueue runs: {error}"
        for item in found:
            conditions = (item.get("status") or {}).get("conditions") or []
            if item["metadata"]["name"] == KUEUE_DEPLOYMENT and any(
                (each["type"], each["status"]) == ("Available", "True") for each in conditions
            ):
                return ""
        return f"{KUEUE_DEPLOYMENT} in {KUEUE_NAMESPACE} is not Available, and has the webhook"

    def _items(self, noun: Noun, cluster_arn: str) -> Iterator[Item]:
        listing = self._operation("list", noun, ClusterArn=cluster_arn, MaxResults=_A_PAGE)
        for page in aws_pages(listing, call=self._call):
            for summary in page.get(f"{noun}Summaries", ()):
                if summary["Status"] != GovernanceStatus.DELETED:
                    item = self._item(noun, summary[f"{noun}Id"])
                    if item is not None:
                        yield item

    def _item(self, noun: Noun, identifier: str) -> Item | None:
        """Return an object; None of one that went since it was listed."""
        describe = self._operation("describe", noun, **{f"{noun}Id": identifier})
        found = or_none(lambda: self._call(describe))
        if found is None or found["Status"] == GovernanceStatus.DELETED:
            return None
        changed_at = found.get("LastModifiedTime") or found["CreationTime"]
        return Item(
            noun=noun,
            name=found["Name"],
            identifier=identifier,
            version=found[f"{noun}Version"],
            status=found["Status"],
            reason=found.get("FailureReason", ""),
            changed_at=changed_at.timestamp(),
            content={key: found[key] for key in _CONTENT[noun] if key in found},
            is_ours=is_marked_by(found.get("Description", ""), self.turn.request.owner),
        )

    def _said(self, thing: Thing) -> dict[str, Any]:
        return {"Description": mark_of(self.turn.request.owner), **thing.content}

    def _operation(self, verb: str, noun: Noun, **request: Any) -> Callable[..., Answer]:
        return partial(getattr(self.sagemaker, noun.operation(verb)), **request)

    def _call(self, call: Callable[[], Answer]) -> Answer:
        return aws_retried(call, clock=self.turn.clock)


@dataclass(frozen=True, kw_only=True)
class TaskGovernance:
    """Handles `Custom::TaskGovernance`."""

    properties_type = TaskGovernanceProperties
    sagemaker: AwsClient
    connection: Callable[[], EksConnection]

    def on_event(self, properties: TaskGovernanceProperties, turn: Turn) -> Accepted:
        """Make the first change, if one can be made now."""
        api, wanted = self._about(properties, turn)
        found = _look(api)
        if wanted.glimpses is None:  # else another attempt has begun already
            turn.note({"request": turn.request.request_id, "seen": written(found.own)})
        step = decision.decide(found, wanted)
        if isinstance(step, decision.AskKueue):
            found = replace(found, kueue=api.kueue())
            step = decision.decide(found, wanted)
        if isinstance(step, decision.Refuse):
            raise step.error
        if isinstance(step, decision.Change):
            _change(step, found, api)
        return Accepted()

    def is_complete(self, properties: TaskGovernanceProperties, turn: Turn) -> Progress:
        """Make the changes that are due, say whether all is done, or raise why it failed."""
        api, wanted = self._about(properties, turn)
        found = _look(api)
        while True:
            step: decision.Step = decision.decide(found, wanted)
            match step:
                case decision.AskKueue():
                    found = replace(found, kueue=api.kueue())
                case decision.Create() | decision.Update() | decision.Delete():
                    found = _change(step, found, api)
                case decision.Wait(why=why):
                    raise NotReadyError(
                        f"Task governance of the HyperPod cluster {wanted.cluster_name} is not "
                        f"done: {why}",
                        next_step="Check it in the HyperPod console (Policies), then deploy again.",
                    )
                case decision.Fail(error=error) | decision.Refuse(error=error):
                    raise error
                case decision.Done():
                    return _answer(wanted)

    def _about(
        self, properties: TaskGovernanceProperties, turn: Turn
    ) -> tuple[GovernanceApi, Wanted]:
        request, notes = turn.request, turn.entry.notes
        begun = notes.get("request") == request.request_id
        api = GovernanceApi(
            sagemaker=self.sagemaker,
            connection=self.connection(),
            properties=properties,
            turn=turn,
        )
        former = request.old_properties
        before = () if former is None else TaskGovernanceProperties.parse(former).things
        wanted = Wanted(
            deletes=request.type == "Delete",
            cluster_name=properties.hyperpod_cluster_name,
            policy=properties.policy,
            quotas=properties.team_quotas,
            former={thing.key: thing.content for thing in before},
            glimpses=read(notes["seen"]) if begun else None,
            takes_back=turn.phase is StackPhase.ROLLING_BACK,
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


def _change(step: decision.Change, found: Found, api: GovernanceApi) -> Found:
    """Make a change, or find that it cannot be made yet; return what is known then."""
    about = step if isinstance(step, decision.Delete) else step.thing
    key = f"{about.noun}/{about.name}"
    log.info(type(step).__name__.lower(), kind=about.noun, name=about.name)
    try:
        match step:
            case decision.Create(thing=thing):
                api.create(thing, found.cluster_arn)
            case decision.Update(thing=thing, item=item):
                api.update(thing, item)
            case decision.Delete(noun=noun, identifier=identifier):
                if not api.delete(noun, identifier):
                    return replace(found, gone=found.gone | {key}, touched=found.touched | {key})
    except AWS_ERRORS as error:
        if not decision.may_pass(step, error, found):
            raise _refused(step, error) from error
        log.info("not yet", kind=about.noun, name=about.name, cause=str(error))
    return replace(found, touched=found.touched | {key})


def _refused(step: decision.Change, error: Exception) -> ProvisioningError:
    about = step if isinstance(step, decision.Delete) else step.thing
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
