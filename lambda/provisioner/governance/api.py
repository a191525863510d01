"""HyperPod's calls on task governance, and the look at Kueue."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from hyperpod_shared.aws_errors import AWS_ERRORS, is_not_found
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
from provisioner.aws.api import SageMakerGovernanceApi
from provisioner.framework.retry import Answer, aws_pages, aws_retried
from provisioner.framework.turn import Turn
from provisioner.governance.found import Item, Thing
from provisioner.kubernetes.cluster import EksConnection
from provisioner.kubernetes.failures import CommandFailedError
from provisioner.kubernetes.kubectl import Kubectl

_A_PAGE = 100
_COMMAND_SECONDS = 30.0
_CONTENT = {
    Noun.POLICY: ("SchedulerConfig",),
    Noun.QUOTA: ("ComputeQuotaConfig", "ComputeQuotaTarget", "ActivationState"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GovernanceApi:
    """Task governance of one HyperPod cluster. Each method raises what SageMaker refuses it with.

    Attributes:
        sagemaker: Makes the calls.
        connection: Connects to Kubernetes.
        cluster_name: The HyperPod cluster.
        eks_cluster_name: The EKS cluster.
        owner: The resource.
        turn: Says whether anything may still be changed, and has the clock.
    """

    sagemaker: SageMakerGovernanceApi
    connection: EksConnection
    cluster_name: str
    eks_cluster_name: str
    owner: Owner
    turn: Turn

    def cluster(self) -> tuple[str, str]:
        """Return the ARN and the status of the cluster; empty of one that goes, or is gone."""
        try:
            described = self._call(
                lambda: self.sagemaker.describe_cluster(ClusterName=self.cluster_name)
            )
        except AWS_ERRORS as error:
            if is_not_found(error):
                return "", ""
            raise
        status = described["ClusterStatus"]
        return "" if status == ClusterStatus.DELETING else described["ClusterArn"], status

    def items(self, cluster_arn: str) -> tuple[Item, ...]:
        """Return the policies and quotas of the cluster, but for those that are deleted."""
        return tuple(item for noun in Noun for item in self._items(noun, cluster_arn))

    def create(self, thing: Thing, cluster_arn: str) -> None:
        """Make an object of the cluster."""
        make: Callable[..., Answer] = (
            self.sagemaker.create_cluster_scheduler_config
            if thing.noun is Noun.POLICY
            else self.sagemaker.create_compute_quota
        )
        self._change(
            partial(
                make,
                Name=thing.name,
                ClusterArn=cluster_arn,
                Description=mark_of(self.owner),
                **thing.content,
            )
        )

    def update(self, thing: Thing, item: Item) -> None:
        """Change an object, unless it has another version by now."""
        change: Callable[..., Answer] = (
            self.sagemaker.update_cluster_scheduler_config
            if thing.noun is Noun.POLICY
            else self.sagemaker.update_compute_quota
        )
        identified: dict[str, Any] = {f"{thing.noun}Id": item.identifier}
        self._change(
            partial(
                change,
                **identified,
                TargetVersion=item.version,
                Description=mark_of(self.owner),
                **thing.content,
            )
        )

    def delete(self, noun: Noun, identifier: str) -> bool:
        """Delete an object; say whether there was one."""
        delete: Callable[..., Answer] = (
            self.sagemaker.delete_cluster_scheduler_config
            if noun is Noun.POLICY
            else self.sagemaker.delete_compute_quota
        )
        identified: dict[str, Any] = {f"{noun}Id": identifier}
        try:
            self._change(partial(delete, **identified))
        except AWS_ERRORS as error:
            if is_not_found(error):
                return False
            raise
        return True

    def kueue(self) -> str:
        """Return what Kueue lacks to take quotas; empty if nothing."""
        described = self.connection.describe(self.eks_cluster_name, self.turn.clock)
        try:
            with self.connection.connect(described, namespace=KUEUE_NAMESPACE) as commands:
                kubectl = Kubectl(
                    run=commands.kubectl,
                    home=commands.home,
                    timeout_seconds=lambda: _COMMAND_SECONDS,
                )
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
        of_policy = noun is Noun.POLICY
        list_page: Callable[..., Answer] = (
            self.sagemaker.list_cluster_scheduler_configs
            if of_policy
            else self.sagemaker.list_compute_quotas
        )
        listing = partial(list_page, ClusterArn=cluster_arn, MaxResults=_A_PAGE)
        for page in aws_pages(listing, call=self._call):
            for summary in page.get(f"{noun}Summaries", ()):
                if summary["Status"] != GovernanceStatus.DELETED:
                    item = self._item(noun, summary[f"{noun}Id"])
                    if item is not None:
                        yield item

    def _item(self, noun: Noun, identifier: str) -> Item | None:
        """Return an object; None of one that went since it was listed."""
        describe: Callable[..., Answer] = (
            self.sagemaker.describe_cluster_scheduler_config
            if noun is Noun.POLICY
            else self.sagemaker.describe_compute_quota
        )
        identified: dict[str, Any] = {f"{noun}Id": identifier}
        try:
            found = self._call(lambda: describe(**identified))
        except AWS_ERRORS as error:
            if is_not_found(error):
                return None
            raise
        if found["Status"] == GovernanceStatus.DELETED:
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

    def _call(self, call: Callable[[], Answer]) -> Answer:
        return aws_retried(call, clock=self.turn.clock)

    def _change(self, call: Callable[[], Answer]) -> None:
        self.turn.change(call)
