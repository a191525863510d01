"""HyperPod's calls on task governance, and the look at Kueue."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from hyperpod_shared.aws_errors import AwsClient, or_none
from hyperpod_shared.clusters import ClusterStatus
from hyperpod_shared.governance import (
    KUEUE_DEPLOYMENT,
    KUEUE_NAMESPACE,
    GovernanceStatus,
    Noun,
    is_marked_by,
    mark_of,
)
from hyperpod_shared.owner import Owner
from provisioner.framework.retry import Answer, aws_pages, aws_retried
from provisioner.framework.turn import Turn
from provisioner.governance.found import Item, Thing
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

    Kueue runs in the EKS cluster; the owner is the resource.
    """

    sagemaker: AwsClient
    connection: EksConnection
    cluster_name: str
    eks_cluster_name: str
    owner: Owner
    turn: Turn

    def cluster(self) -> tuple[str, str]:
        """Return the ARN and the status of the cluster; empty of one that goes, or is gone."""
        describe = partial(self.sagemaker.describe_cluster, ClusterName=self.cluster_name)
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
        described = self.connection.describe(self.eks_cluster_name, self.turn.clock)
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
            is_ours=is_marked_by(found.get("Description", ""), self.owner),
        )

    def _said(self, thing: Thing) -> dict[str, Any]:
        return {"Description": mark_of(self.owner), **thing.content}

    def _operation(self, verb: str, noun: Noun, **request: Any) -> Callable[..., Answer]:
        return partial(getattr(self.sagemaker, noun.operation(verb)), **request)

    def _call(self, call: Callable[[], Answer]) -> Answer:
        return aws_retried(call, clock=self.turn.clock)
