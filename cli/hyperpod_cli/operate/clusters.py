"""HyperPod clusters and their nodes as SageMaker describes them; which one a command is about."""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cdk import Config, load_config
from hyperpod_cli.aws.session import AwsClient, AwsSession, answer_of, aws_session, listed
from hyperpod_cli.terminal.configuration import only_config
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_shared.aws_errors import is_denied, is_not_found
from hyperpod_shared.clusters import CONTINUOUS, Group, Groups, groups_of
from hyperpod_shared.owner import STACK_TAG

# The most that operations on clusters return in a page. How many they return by themselves, AWS
# does not say; most other lists of SageMaker return 10.
# https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ListClusterNodes.html
_PAGE = 100


def items(sagemaker: AwsClient, operation: str, key: str, **asked: object) -> Iterator[Any]:
    """Yield the items of a list of SageMaker; otherwise as `listed`."""
    return listed(sagemaker, operation, key, **asked, PaginationConfig={"PageSize": _PAGE})


class NoClusterError(OpsError):
    """There is no HyperPod cluster of a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class DescribedCluster:
    """A HyperPod cluster."""

    described: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.described["ClusterName"])

    @property
    def id(self) -> str:
        """What SageMaker drew for it: the end of its ARN, which sessions of SSM name."""
        return str(self.described["ClusterArn"]).rpartition("/")[2]

    @property
    def status(self) -> str:
        """Its status, such as InService."""
        return str(self.described["ClusterStatus"])

    @property
    def groups(self) -> Groups:
        """Its instance groups by name, as described; Slurm's controller and login first."""
        return groups_of(self.described)

    def group(self, name: str) -> Group:
        """Return an instance group, as described; refuse a name that none has."""
        group = self.groups.get(name)
        if group is None:
            known = ", ".join(self.groups) or "none"
            raise OpsError(f"group: {name!r} is not in {self.name}, which has: {known}")
        return group

    @property
    def is_continuous(self) -> bool:
        """Whether nodes are provisioned one by one, and tried again while there is none."""
        return self.described.get("NodeProvisioningMode") == CONTINUOUS


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterNode:
    """An instance of a HyperPod cluster.

    Attributes:
        id: Its instance ID; empty while it has none.
        message: What SageMaker adds to the status; may be empty.
        launched: When the instance was launched; None while SageMaker does not say.
        logical_id: What SageMaker calls it from the request for it on; empty unless asked for.
        host: Its name in its network and in Slurm; empty while it has none.
    """

    id: str
    group: str
    instance_type: str
    status: str
    message: str
    launched: datetime | None = None
    logical_id: str = ""
    host: str = ""

    @property
    def kubernetes_name(self) -> str:
        """Name of its Node object.

        https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html
        """
        return f"hyperpod-{self.id}"


def find_cluster(
    sagemaker: AwsClient,
    name: str,
    *,
    deployed_by: str = "",
    options: str = "--cluster, or another region with --region",
) -> DescribedCluster:
    """Return a cluster by its name or ARN, or refuse with what names another one.

    The error names `deployed_by`, the command that makes the cluster, and `options`, by default
    those of `hyperpod-cdk`. NoClusterError: there is none of that name.
    """
    answer = answer_of(sagemaker.describe_cluster, ClusterName=name)
    if answer is not None:
        # The answer need not have the name, which may be an ARN here.
        return DescribedCluster(described={"ClusterName": name, **answer})
    region = sagemaker.meta.region_name
    first = f"run `{deployed_by}`, or " if deployed_by else ""
    raise NoClusterError(
        f"cluster: {name!r} is not in {region}, where stacks have made: {_others(sagemaker)}; "
        f"{first}name one with {options}"
    )


def _others(sagemaker: AwsClient) -> str:
    try:
        return ", ".join(cluster.name for cluster in own_clusters(sagemaker)) or "none"
    except ClientError as denied:
        if not is_denied(denied):
            raise
        return "what you may not list"


def nodes_of(
    sagemaker: AwsClient,
    name: str,
    *,
    group: str | None = None,
    requested: bool = False,
) -> list[ClusterNode]:
    """Return the nodes of a cluster, or of one group of it, by group and ID.

    With `requested`, for a cluster with continuous provisioning, those that have no instance yet
    are listed too, last in their group; SageMaker leaves them out otherwise.
    """
    asked = {
        "ClusterName": name,
        **({"InstanceGroupNameContains": group} if group else {}),
        **({"IncludeNodeLogicalIds": True} if requested else {}),
    }
    nodes = map(_node, items(sagemaker, "list_cluster_nodes", "ClusterNodeSummaries", **asked))
    return sorted(
        (node for node in nodes if group in (None, node.group)),
        key=lambda node: (node.group, not node.id, node.id, node.logical_id),
    )


def _node(summary: Mapping[str, Any]) -> ClusterNode:
    status = summary["InstanceStatus"]
    return ClusterNode(
        id=str(summary.get("InstanceId", "")),
        group=str(summary["InstanceGroupName"]),
        instance_type=str(summary.get("InstanceType", "")),
        status=str(status["Status"]),
        message=str(status.get("Message", "")),
        launched=summary.get("LaunchTime"),
        logical_id=str(summary.get("NodeLogicalId", "")),
        host=str(summary.get("PrivateDnsHostname", "")).partition(".")[0],
    )


# CloudFormation tags its own resources.
# https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-properties-resource-tags.html
_STACK_TAGS = (STACK_TAG, "aws:cloudformation:stack-id")


@dataclass(frozen=True, kw_only=True, slots=True)
class ListedCluster:
    """A HyperPod cluster that a stack made."""

    name: str
    status: str
    stack: str


def own_clusters(sagemaker: AwsClient) -> list[ListedCluster]:
    """Return the clusters of a region that stacks made, by name.

    Clusters whose tags the caller may not read, as of another team, are passed over, and so are
    those that are deleted meanwhile.

    ClientError: AWS refused to say, of any cluster at all.
    """
    clusters, denied, is_any_read = [], None, False
    for summary in items(sagemaker, "list_clusters", "ClusterSummaries"):
        try:
            stack = stack_of(sagemaker, arn=summary["ClusterArn"])
        except ClientError as error:
            if is_denied(error):
                denied = error
            elif not is_not_found(error):
                raise
            continue
        is_any_read = True
        if stack is not None:
            name, status = summary["ClusterName"], summary["ClusterStatus"]
            clusters.append(ListedCluster(name=name, status=status, stack=stack))
    if denied is not None and not is_any_read:
        raise denied
    return sorted(clusters, key=lambda cluster: cluster.name)


def stack_of(sagemaker: AwsClient, *, arn: str) -> str | None:
    """Return the name of the stack that made a cluster, by its tags; None if they name none."""
    tags = items(sagemaker, "list_tags", "Tags", ResourceArn=arn)
    stacks = (str(tag["Value"].split("/")[1]) for tag in tags if tag["Key"] in _STACK_TAGS)
    return next(stacks, None)


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """A cluster, and where it is.

    Attributes:
        config: The configuration; None for a cluster that is named by itself.
        file: That of the configuration.
        options: What names it in a next step: the file or options.
    """

    name: str
    session: AwsSession
    config: Config | None
    file: Path = Path("config.yaml")
    options: Sequence[str] = ()

    def command(self, *arguments: str) -> str:
        """Return a command of `hyperpod-cdk` about this cluster, to be copied."""
        return shlex.join(["hyperpod-cdk", *arguments, *self.options])

    def deployed_by(self) -> str:
        """Return the command that deploys the configuration, to be copied."""
        return command_line("deploy", self.file)

    @property
    def sagemaker(self) -> AwsClient:
        """Client of SageMaker."""
        return self.session.client("sagemaker")

    def cluster(self) -> DescribedCluster:
        """Return the cluster as it is now. NoClusterError: there is none, or it asks for none."""
        if self.config is not None:
            require_cluster(self.config, file=self.file)
        deployed_by = "" if self.config is None else self.deployed_by()
        return find_cluster(self.sagemaker, self.name, deployed_by=deployed_by)


def require_cluster(config: Config, *, file: Path) -> None:
    """Refuse a configuration without a HyperPod cluster."""
    if not config.cluster.exists:
        raise NoClusterError(
            f"{file}: cluster: is null, and this command needs a HyperPod cluster; set "
            "--cluster, or list the nodes with `kubectl get nodes` (`hyperpod-cdk kubeconfig`)"
        )


def chosen_cluster(config: Path | None, *, cluster: str | None, region: str | None) -> Chosen:
    """Return the cluster that options name: `cluster` by its name, else the configuration's.

    Without either, it is that of the configuration in this folder.
    """
    where = [] if region is None else ["--region", region]
    if cluster is not None:
        return Chosen(
            name=cluster,
            session=aws_session(region=region),
            config=None,
            options=["--cluster", cluster, *where],
        )
    config = config or only_config()
    loaded = load_config(config)
    session = aws_session(region=region, config=loaded)
    return Chosen(
        name=loaded.cluster.name,
        session=session,
        config=loaded,
        file=config,
        options=[str(config), *where],
    )
