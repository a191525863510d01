"""Reads what is deployed of a configuration into an archive; it changes nothing."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from kubernetes.client import ApiClient

from hyperpod_cdk import Config
from hyperpod_cdk.effects.effect import properties_of
from hyperpod_cdk.hyperpod.cluster_template import CLUSTER_TYPES
from hyperpod_cli.aws.kubernetes_api import kubernetes_api, one_line_errors
from hyperpod_cli.aws.session import AwsSession, answer_of, listed
from hyperpod_cli.aws.stacks import deployed, described_stack, outputs_in, resources_of
from hyperpod_cli.inspect.archive.archive import FORMAT, Archive, ArchiveError
from hyperpod_cli.inspect.archive.deployment import (
    ArchivedDeployment,
    ArchivedNode,
    ArchivedStack,
    Manifest,
)
from hyperpod_cli.inspect.archive.hiding import hidden, secrets_in_files
from hyperpod_cli.inspect.archive.kubernetes_objects import claims, helm_releases, managed_nodes
from hyperpod_cli.inspect.permissions.role_policies import role_policies
from hyperpod_cli.operate.clusters import DescribedCluster, nodes_of
from hyperpod_cli.operate.nodes.health import user_pods
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.stack_progress.terminal import FAILED_CREATIONS
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.explained import explanation
from hyperpod_stacks.table import STACKS, stack_name

_EXECUTION_ROLE = "cdk-hnb659fds-cfn-exec-role-{account}-{region}"
_FILE_SYSTEM = "AWS::FSx::FileSystem"
# What custom resources take from S3, by the property that names it, and that which names where.
_FETCHED = {"ChartKey": "ChartBucket", "SourceKey": "SourceBucket"}
# What EKS says that no one compares: the certificate fills a screen. The values of an add-on are in
# its stack's template; those of an add-on that has none may be YAML, with secrets.
_LEFT_OUT = ("certificateAuthority", "configurationValues", "ResponseMetadata")
_IN_KUBERNETES = {
    "the pods": user_pods,
    "the nodes of EKS": managed_nodes,
    "the Helm releases": helm_releases,
    "the claims": claims,
}


def archive_of(config: Config, *, session: AwsSession) -> Archive:
    """Return the archive of what is deployed."""
    return _Reader(config=config, session=session).read()


@dataclass(kw_only=True)
class _Reader:
    config: Config
    session: AwsSession
    unread: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)
    roles: set[str] = field(default_factory=set)

    def read(self) -> Archive:
        account = self.session.client("sts").get_caller_identity()["Account"]
        templates: dict[str, Mapping[str, Any]] = {}
        stacks = [*self._stacks(templates)]
        if not stacks:
            raise ArchiveError(
                f"stacks: none of {self.config.name!r} is deployed in {self.session.region}; "
                "`hyperpod-cdk rehearse` rehearses a first deployment"
            )
        cluster = self._tried("the cluster", lambda: self._cluster(stacks))
        eks_cluster = self._eks_cluster(cluster)
        answer = self._tried("the control plane", lambda: self._control_plane(eks_cluster))
        control_plane, addons, node_groups = answer or (None, (), ())
        pods, managed, releases, claimed = self._kubernetes(eks_cluster)
        policies = self._tried(
            "the policies of CloudFormation's role", lambda: self._policies(account)
        )
        cloudformation, boundary = policies or ({}, {})
        deployment = ArchivedDeployment(
            stacks=tuple(stacks),
            cluster=cluster,
            nodes=(
                *self._nodes(cluster, pods=pods),
                *(
                    node.model_copy(update={"pods": tuple(pods.get(node.id, ()))})
                    for node in managed
                ),
            ),
            control_plane=control_plane,
            addons=addons,
            node_groups=node_groups,
            file_systems=self._tried("the file systems", lambda: self._file_systems(stacks)) or (),
            releases=tuple(releases),
            claims=tuple(claimed),
            cloudformation=cloudformation,
            boundary=boundary,
        )
        assets = dict(self._assets(templates, account=account))
        return Archive(
            manifest=Manifest(
                format=FORMAT,
                account=account,
                region=self.session.region,
                deployment=self.config.name,
                version=version("hyperpod-cdk"),
                written=datetime.now(UTC).isoformat(timespec="seconds"),
            ),
            deployment=deployment.model_copy(
                update={"hidden": tuple(self.hidden), "unread": tuple(self.unread)}
            ),
            templates=templates,
            assets=assets,
        )

    def _tried(self, what: str, read: Callable[[], Any]) -> Any:  # noqa: ANN401 - of many kinds
        """Return what is read; None, noting why, where that is not possible."""
        try:
            return read()
        except (BotoCoreError, ClientError, OpsError) as error:
            self.unread.append(f"{what}: {explanation(error)}")
            return None

    def _stacks(self, templates: dict[str, Mapping[str, Any]]) -> Iterator[ArchivedStack]:
        client = self.session.client("cloudformation")
        for kind in STACKS:
            name = stack_name(self.config, kind)
            stack = deployed(client, name)
            described = described_stack(client, name)
            if stack is None or described is None or not stack.template:
                continue
            if stack.status in FAILED_CREATIONS:
                continue
            templates[name] = self._hide(stack.template, name)
            self.roles |= {described["RoleARN"]} if "RoleARN" in described else set()
            tags = {tag["Key"]: tag["Value"] for tag in described.get("Tags", ())}
            yield ArchivedStack(
                name=name,
                status=stack.status,
                is_protected=stack.is_protected,
                parameters=self._parameters(stack.parameters, name),
                outputs=self._hide(outputs_in(described), f"{name} outputs"),
                tags=self._hide(tags, f"{name} tags"),
                resources=tuple(resources_of(client, name)),
            )

    def _parameters(self, values: Mapping[str, str], stack: str) -> dict[str, str]:
        where = f"{stack} parameters"
        # What NoEcho makes of a value:
        # https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html
        self.hidden += [f"{where}: {name}" for name, value in values.items() if {*value} == {"*"}]
        return self._hide(values, where)

    def _hide(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        result, places = hidden(values)
        self.hidden += [f"{where}: {place}" for place in places]
        return result

    def _cluster(self, stacks: Iterable[ArchivedStack]) -> Mapping[str, Any] | None:
        # The changed configuration may call it otherwise, or have none.
        of_config = [self.config.cluster.name] if self.config.cluster.exists else []
        names = [*_physical_ids(stacks, *CLUSTER_TYPES), *of_config]
        if not names:
            return None
        client = self.session.client("sagemaker")
        answer = answer_of(client.describe_cluster, ClusterName=names[0])
        return None if answer is None else self._hide(_plain(answer), "cluster")

    def _eks_cluster(self, cluster: Mapping[str, Any] | None) -> str | None:
        """Return the name of the EKS cluster: the one that the cluster has, before the file's."""
        if cluster is not None:
            orchestrator = orchestrator_of(DescribedCluster(described=cluster))
            try:
                return orchestrator.eks_cluster_name()
            except OpsError:
                return None
        return None if self.config.control_plane is None else self.config.eks_cluster_name

    def _control_plane(
        self, name: str | None
    ) -> (
        tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...], tuple[Mapping[str, Any], ...]]
        | None
    ):
        client = self.session.client("eks")
        answer = None if name is None else answer_of(client.describe_cluster, name=name)
        if answer is None:
            return None
        addons = (
            client.describe_addon(clusterName=name, addonName=addon)["addon"]
            for addon in listed(client, "list_addons", "addons", clusterName=name)
        )
        groups = (
            client.describe_nodegroup(clusterName=name, nodegroupName=group)["nodegroup"]
            for group in listed(client, "list_nodegroups", "nodegroups", clusterName=name)
        )
        return (
            self._hide(_plain(answer["cluster"]), "control plane"),
            tuple(self._hide(_plain(addon), f"add-on {addon['addonName']}") for addon in addons),
            tuple(self._hide(_plain(group), f"group {group['nodegroupName']}") for group in groups),
        )

    def _nodes(
        self, cluster: Mapping[str, Any] | None, *, pods: Mapping[str, list[str]]
    ) -> Iterator[ArchivedNode]:
        if cluster is None:
            return
        sagemaker, name = self.session.client("sagemaker"), str(cluster["ClusterName"])
        for node in self._tried("the nodes", lambda: nodes_of(sagemaker, name)) or ():
            yield ArchivedNode(
                id=node.id,
                group=node.group,
                instance_type=node.instance_type,
                status=node.status,
                pods=tuple(pods.get(node.kubernetes_name, ())),
            )

    def _kubernetes(
        self, name: str | None
    ) -> tuple[Mapping[str, list[str]], Sequence[Any], Sequence[Any], Sequence[Any]]:
        """Return what runs on each Node, the nodes of EKS, the Helm releases and the claims."""

        def read() -> list[Any]:
            # Who cannot reach it waits once.
            with kubernetes_api(self.session, eks_cluster=str(name)) as api:
                return [
                    self._tried(what, partial(_asked, read_kind, api))
                    for what, read_kind in _IN_KUBERNETES.items()
                ]

        answers = None if name is None else self._tried("what is in Kubernetes", read)
        pods, *others = answers or (None, None, None, None)
        managed, releases, claimed = (answer or () for answer in others)
        return pods or {}, managed, releases, claimed

    def _file_systems(self, stacks: Iterable[ArchivedStack]) -> tuple[Mapping[str, Any], ...]:
        ids = [*_physical_ids(stacks, _FILE_SYSTEM)]
        if not ids:
            return ()
        answer = self.session.client("fsx").describe_file_systems(FileSystemIds=ids)
        return tuple(self._hide(_plain(files), "file system") for files in answer["FileSystems"])

    def _policies(self, account: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the policies of the roles that the stacks have, and what bounds these, by name."""
        iam = self.session.client("iam")
        default = _EXECUTION_ROLE.format(account=account, region=self.session.region)
        documents: dict[str, Any] = {}
        bounds: dict[str, Any] = {}
        for role in sorted({arn.rpartition("/")[2] for arn in self.roles}) or [default]:
            policies, boundary = role_policies(iam, role)
            documents |= policies
            bounds |= boundary
        return documents, bounds

    def _assets(
        self, templates: Mapping[str, Mapping[str, Any]], *, account: str
    ) -> Iterator[tuple[str, bytes]]:
        """Yield what custom resources take from S3, as charts and scripts, by its key."""
        s3 = self.session.client("s3")
        partition = self.session.session.get_partition_for_region(self.session.region)
        known = {"AccountId": account, "Region": self.session.region, "Partition": partition}
        all_of = [given for template in templates.values() for _, given in properties_of(template)]
        wanted = {
            str(properties[key]): properties.get(bucket)
            for properties in all_of
            for key, bucket in _FETCHED.items()
            if isinstance(properties.get(key), str)
        }
        for key, place in sorted(wanted.items()):
            text = place.get("Fn::Sub", "") if isinstance(place, Mapping) else str(place)
            bucket = re.sub(r"\$\{AWS::(\w+)\}", lambda name: known.get(name[1], name[0]), text)
            get = partial(s3.get_object, Bucket=bucket, Key=key)
            content = self._tried(f"s3://{bucket}/{key}", partial(_body, get))
            if content is None:
                continue
            # The digest of the whole is in the template: what has a secret is left out as a whole.
            secrets = [*secrets_in_files(content)]
            self.hidden += [f"{key}: {place}" for place in secrets]
            if not secrets:
                yield key, content


def _body(get: Callable[[], Mapping[str, Any]]) -> Any:  # noqa: ANN401 - bytes
    return get()["Body"].read()


def _asked(read: Callable[[ApiClient], Any], api: ApiClient) -> Any:  # noqa: ANN401 - of many kinds
    with one_line_errors(api):
        return read(api)


def _physical_ids(stacks: Iterable[ArchivedStack], *types: str) -> Iterator[str]:
    for stack in stacks:
        for resource in stack.resources:
            if resource.type in types and resource.physical_id:
                yield resource.physical_id


def _plain(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of AWS as JSON."""
    kept = {name: value for name, value in answer.items() if name not in _LEFT_OUT}
    plain: dict[str, Any] = json.loads(json.dumps(kept, default=str))
    return plain
