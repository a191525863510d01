"""HyperPod's calls on one cluster, with retries."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from hyperpod_shared.aws_errors import AWS_ERRORS, AwsClient, or_none
from hyperpod_shared.clusters import ClusterInput, ClusterStatus, Described
from hyperpod_shared.governance import GovernanceStatus, Noun
from provisioner.framework import log
from provisioner.framework.retry import aws_pages, aws_retried
from provisioner.framework.turn import Turn
from provisioner.hyperpod.changes import user_tags

T = TypeVar("T")

_NODES_A_PAGE = 100
_GONE = frozenset({GovernanceStatus.DELETED, GovernanceStatus.DELETING})


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodApi:
    """One cluster, by name. Each method raises the error with which SageMaker refuses its call.

    If patient, it retries what may pass with time; else the caller comes back later.
    """

    sagemaker: AwsClient
    name: str
    turn: Turn
    patient: bool

    def describe(self) -> tuple[Described, dict[str, str]]:
        """Return DescribeCluster's answer and the tags; both empty if there is no such cluster."""
        describe = partial(self.sagemaker.describe_cluster, ClusterName=self.name)
        described = or_none(lambda: self._call(describe))
        if described is None:
            return {}, {}
        tags = or_none(lambda: self._tags(described["ClusterArn"]))
        # Not visible there yet, unless it went between the two calls.
        gone = tags is None and described["ClusterStatus"] == ClusterStatus.DELETING
        return {} if gone else described, tags or {}

    def create(self, cluster: ClusterInput, marks: Mapping[str, str]) -> None:
        """Create the cluster, with marks among the user's tags."""
        tags = _as_list({**user_tags(cluster), **marks})
        self._change(partial(self.sagemaker.create_cluster, **{**cluster, "Tags": tags}))

    def update(self, changed: Mapping[str, object]) -> None:
        """Change the cluster."""
        self._change(partial(self.sagemaker.update_cluster, ClusterName=self.name, **changed))

    def update_software(self, changed: Mapping[str, object]) -> None:
        """Give groups another AMI."""
        call = partial(self.sagemaker.update_cluster_software, ClusterName=self.name, **changed)
        self._change(call)

    def delete(self) -> None:
        """Delete the cluster; one that is gone already is a success."""
        call = partial(self.sagemaker.delete_cluster, ClusterName=self.name)
        or_none(lambda: self._change(call))

    def tag(self, arn: str, add: Mapping[str, str], remove: Sequence[str] = ()) -> None:
        """Write or overwrite tags, and remove others, with retries: no poll may follow a mark."""
        if add:
            call = partial(self.sagemaker.add_tags, ResourceArn=arn, Tags=_as_list(add))
            self._change(call, patient=True)
        if remove:
            call = partial(self.sagemaker.delete_tags, ResourceArn=arn, TagKeys=list(remove))
            self._change(call, patient=True)

    def nodes(self, *, patient: bool = False) -> list[Mapping[str, Any]]:
        """Return the nodes; if patient, with retries in any case."""
        listing = partial(
            self.sagemaker.list_cluster_nodes, ClusterName=self.name, MaxResults=_NODES_A_PAGE
        )
        pages = aws_pages(listing, call=partial(self._call, patient=patient))
        return [node for page in pages for node in page.get("ClusterNodeSummaries", ())]

    def _tags(self, arn: str) -> dict[str, str]:
        pages = aws_pages(partial(self.sagemaker.list_tags, ResourceArn=arn), call=self._call)
        return {tag["Key"]: tag["Value"] for page in pages for tag in page.get("Tags", ())}

    def _call(self, call: Callable[[], T], *, patient: bool = False) -> T:
        return aws_retried(call, clock=self.turn.clock) if self.patient or patient else call()

    def _change(self, call: Callable[[], object], *, patient: bool = False) -> None:
        def attempt() -> None:
            self.turn.require()
            call()

        self._call(attempt, patient=patient)


def _as_list(tags: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Key": key, "Value": value} for key, value in tags.items()]


def governance_of(api: HyperPodApi, arn: str) -> Sequence[str]:
    """Name what governs a cluster; nothing when it cannot be found out."""
    try:
        return [
            f"{noun.words} {name}" for noun in reversed(Noun) for name in _names(api, noun, arn)
        ]
    except AWS_ERRORS as error:
        log.warning("task governance not known", cluster=api.name, cause=str(error))
        return ()


def _names(api: HyperPodApi, noun: Noun, arn: str) -> Iterator[str]:
    listing = partial(getattr(api.sagemaker, noun.operation("list")), ClusterArn=arn)
    for page in aws_pages(listing, call=lambda once: once()):
        found = page.get(f"{noun}Summaries", ())
        yield from (item["Name"] for item in found if item["Status"] not in _GONE)
