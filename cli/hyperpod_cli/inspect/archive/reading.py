"""Reads what is deployed of a configuration into an archive; it changes nothing."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from hyperpod_cdk import Config
from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.aws.session import AwsSession, answer_of, listed
from hyperpod_cli.aws.stacks import deployed, described_stack, resources_of
from hyperpod_cli.inspect.archive.archive import FORMAT, Archive, ArchiveError
from hyperpod_cli.inspect.archive.deployment import (
    ArchivedNode,
    ArchivedResource,
    ArchivedStack,
    Deployment,
    Manifest,
)
from hyperpod_cli.inspect.archive.hiding import hidden
from hyperpod_cli.inspect.archive.kubernetes_objects import claims, helm_releases
from hyperpod_cli.operate.clusters import HyperPodCluster, nodes_of
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
# What EKS says that nobody compares: the certificate fills a screen.
_LEFT_OUT = ("certificateAuthority", "ResponseMetadata")


def archive_of(config: Config, *, session: AwsSession) -> Archive:
    """Return the archive of what is deployed.

    Args:
        config: The configuration, whose `name` is the deployment's.
        session: The account and the region.

    Raises:
        ArchiveError: Nothing is deployed under this name.
        ClientError: AWS refused to say what the stacks are.
        BotoCoreError: AWS could not be asked.
        UnreadableTemplateError: A stack's template is not JSON.
    """
    return _Reader(config=config, session=session).read()


@dataclass(kw_only=True)
class _Reader:
    config: Config
    session: AwsSession
    unread: list[str] = field(default_factory=list)
    hidden: list[str] = field(default_factory=list)

    def read(self) -> Archive:
        account = self.session.client("sts").get_caller_identity()["Account"]
        templates: dict[str, Mapping[str, Any]] = {}
        stacks = [*self._stacks(templates)]
        if not stacks:
            raise ArchiveError(
                f"stacks: none of {self.config.name!r} is deployed in {self.session.region}; "
                "`make rehearse` rehearses a first deployment"
            )
        cluster = self._tried("the cluster", self._cluster)
        eks_cluster = self._eks_cluster(cluster)
        found = self._tried("the control plane", lambda: self._control_plane(eks_cluster))
        control_plane, addons = found or (None, ())
        nodes, releases, claimed = self._nodes(cluster, eks_cluster)
        deployment = Deployment(
            stacks=tuple(stacks),
            cluster=cluster,
            nodes=nodes,
            control_plane=control_plane,
            addons=addons,
            file_systems=self._tried("the file systems", lambda: self._file_systems(stacks)) or (),
            releases=releases,
            claims=claimed,
            cloudformation=self._tried(
                "the policies of CloudFormation's role", lambda: self._policies(account)
            )
            or {},
            hidden=tuple(self.hidden),
            unread=tuple(self.unread),
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
            deployment=deployment.model_copy(update={"unread": tuple(self.unread)}),
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
            found = deployed(client, name)
            described = described_stack(client, name)
            if found is None or described is None or not found.template:
                continue
            if found.status in FAILED_CREATIONS:
                continue
            templates[name] = self._hide(found.template, name)
            outputs = {
                each["OutputKey"]: each["OutputValue"] for each in described.get("Outputs", ())
            }
            tags = {each["Key"]: each["Value"] for each in described.get("Tags", ())}
            yield ArchivedStack(
                name=name,
                status=found.status,
                is_protected=found.is_protected,
                parameters=self._hide(found.parameters, f"{name} parameters"),
                outputs=self._hide(outputs, f"{name} outputs"),
                tags=self._hide(tags, f"{name} tags"),
                resources=tuple(
                    ArchivedResource(
                        logical_id=each.logical_id, physical_id=each.physical_id, type=each.type
                    )
                    for each in resources_of(client, name)
                ),
            )

    def _hide(self, values: Mapping[str, Any], where: str) -> dict[str, Any]:
        result, places = hidden(values)
        self.hidden += [f"{where}: {place}" for place in places]
        return result

    def _cluster(self) -> Mapping[str, Any] | None:
        client, name = self.session.client("sagemaker"), self.config.cluster.name
        answer = answer_of(client.describe_cluster, ClusterName=name)
        return None if answer is None else _plain(answer)

    def _eks_cluster(self, cluster: Mapping[str, Any] | None) -> str | None:
        """Return the name of the EKS cluster: the one that the cluster has, before the file's."""
        if cluster is not None:
            orchestrator = orchestrator_of(HyperPodCluster(described=cluster))
            try:
                return orchestrator.eks_cluster_name()
            except OpsError:
                return None
        return None if self.config.control_plane is None else self.config.eks_cluster_name

    def _control_plane(
        self, name: str | None
    ) -> tuple[Mapping[str, Any], tuple[Mapping[str, Any], ...]] | None:
        client = self.session.client("eks")
        answer = None if name is None else answer_of(client.describe_cluster, name=name)
        if answer is None:
            return None
        addons = (
            client.describe_addon(clusterName=name, addonName=addon)["addon"]
            for addon in listed(client, "list_addons", "addons", clusterName=name)
        )
        return _plain(answer["cluster"]), tuple(map(_plain, addons))

    def _nodes(
        self, cluster: Mapping[str, Any] | None, eks_cluster: str | None
    ) -> tuple[
        tuple[ArchivedNode, ...], tuple[Mapping[str, Any], ...], tuple[Mapping[str, Any], ...]
    ]:
        """Return the nodes with what runs on them, the Helm releases and the claims."""
        sagemaker, name = self.session.client("sagemaker"), self.config.cluster.name
        nodes = (
            self._tried("the nodes", lambda: nodes_of(sagemaker, name))
            if cluster is not None
            else ()
        )
        pods: Mapping[str, list[str]] = {}
        releases: tuple[Mapping[str, Any], ...] = ()
        claimed: tuple[Mapping[str, Any], ...] = ()
        if eks_cluster is not None:
            pods = self._in_kubernetes("the pods", eks_cluster, user_pods) or {}
            releases = tuple(
                self._in_kubernetes("the Helm releases", eks_cluster, helm_releases) or ()
            )
            claimed = tuple(self._in_kubernetes("the claims", eks_cluster, claims) or ())
        found = (
            ArchivedNode(
                id=each.id,
                group=each.group,
                instance_type=each.instance_type,
                status=each.status,
                pods=tuple(pods.get(each.kubernetes_name, ())),
            )
            for each in nodes
        )
        return tuple(found), releases, claimed

    def _in_kubernetes(self, what: str, name: str, read: Callable[[Any], Any]) -> Any:  # noqa: ANN401
        def asked() -> object:
            with kubernetes_api(self.session, eks_cluster=name) as api:
                return read(api)

        return self._tried(what, asked)

    def _file_systems(self, stacks: Iterable[ArchivedStack]) -> tuple[Mapping[str, Any], ...]:
        ids = [
            each.physical_id
            for stack in stacks
            for each in stack.resources
            if each.type == _FILE_SYSTEM and each.physical_id
        ]
        if not ids:
            return ()
        answer = self.session.client("fsx").describe_file_systems(FileSystemIds=ids)
        return tuple(self._hide(_plain(each), "file system") for each in answer["FileSystems"])

    def _policies(self, account: str) -> dict[str, Any]:
        iam = self.session.client("iam")
        role = _EXECUTION_ROLE.format(account=account, region=self.session.region)
        found: dict[str, Any] = {}
        attached = listed(iam, "list_attached_role_policies", "AttachedPolicies", RoleName=role)
        for each in attached:
            arn = each["PolicyArn"]
            number = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
            answer = iam.get_policy_version(PolicyArn=arn, VersionId=number)["PolicyVersion"]
            found[arn] = answer["Document"]
        for name in listed(iam, "list_role_policies", "PolicyNames", RoleName=role):
            answer = iam.get_role_policy(RoleName=role, PolicyName=name)
            found[name] = answer["PolicyDocument"]
        return found

    def _assets(
        self, templates: Mapping[str, Mapping[str, Any]], *, account: str
    ) -> Iterator[tuple[str, bytes]]:
        """Yield what custom resources take from S3, as charts and scripts, by its key."""
        s3 = self.session.client("s3")
        partition = self.session.session.get_partition_for_region(self.session.region)
        known = {"AccountId": account, "Region": self.session.region, "Partition": partition}
        wanted = {
            str(properties[key]): properties.get(bucket)
            for template in templates.values()
            for each in template.get("Resources", {}).values()
            for properties in [each.get("Properties", {})]
            for key, bucket in _FETCHED.items()
            if isinstance(properties.get(key), str)
        }
        for key, place in sorted(wanted.items()):
            text = place.get("Fn::Sub", "") if isinstance(place, Mapping) else str(place)
            bucket = re.sub(r"\$\{AWS::(\w+)\}", lambda name: known.get(name[1], name[0]), text)
            asked = {"Bucket": bucket, "Key": key}
            content = self._tried(
                f"s3://{bucket}/{key}",
                partial(lambda call: s3.get_object(**call)["Body"].read(), asked),
            )
            if content is not None:
                yield key, content


def _plain(answer: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer of AWS as JSON."""
    kept = {name: value for name, value in answer.items() if name not in _LEFT_OUT}
    plain: dict[str, Any] = json.loads(json.dumps(kept, default=str))
    return plain
