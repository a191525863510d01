"""What must hold after a deployment, and what there is: nodes, releases, remains."""

from __future__ import annotations

import base64
import json
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from botocore.exceptions import ClientError
from kubernetes.config import new_client_from_config

from hyperpod_cdk import Config
from hyperpod_cli.aws.stacks import documented_outputs
from hyperpod_cli.helm.layer_binaries import LayerBinaries, layer_binaries
from hyperpod_cli.inspect.verification.check import LiveDeployment
from hyperpod_cli.inspect.verification.nodes import wanted_nodes
from hyperpod_cli.inspect.verification.verify import verify as checks_of
from hyperpod_cli.operate.clusters import ClusterNode, nodes_of
from hyperpod_emulator.aws.local_aws import AwsClients
from hyperpod_rehearsal.environment import RehearsalEnvironment
from hyperpod_rehearsal.report import Fact, StackReport
from hyperpod_shared.aws_errors import is_not_found
from hyperpod_shared.clusters import node_type, partitions_of
from hyperpod_stacks.table import stack_name

_LONGEST_SECONDS = 600.0
_PRIVATE = 0o600
# Made by `cdk bootstrap`, which destroying an app does not undo.
_BOOTSTRAP = "cdk-hnb659fds-"
_COMMAND_SECONDS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterTools:
    """kubectl and helm with the access of a cluster admin, and a home for their caches."""

    binaries: LayerBinaries
    kubeconfig: Path
    home: Path

    def run(self, command: str) -> tuple[bool, str]:
        """Run a `kubectl …` or `helm …` command; return whether it succeeded, and its output."""
        name, *arguments = shlex.split(command)
        executable = {"kubectl": self.binaries.kubectl, "helm": self.binaries.helm}[name]
        done = subprocess.run(  # noqa: S603 - our own binaries and commands
            [str(executable), *arguments],
            env={"KUBECONFIG": str(self.kubeconfig), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        return done.returncode == 0, done.stdout if done.returncode == 0 else done.stderr


def cluster_nodes(clients: AwsClients, name: str) -> list[ClusterNode]:
    """Return the nodes of a HyperPod cluster; none without one, or without a name of one."""
    if not name:
        return []
    try:
        return nodes_of(clients("sagemaker"), name)
    except ClientError as error:
        if is_not_found(error):
            return []
        raise


def running_nodes(config: Config, *, clients: AwsClients) -> int:
    """Return how many nodes run; 0 when there is no cluster."""
    return _states(config, clients=clients).count("Running")


def _states(config: Config, *, clients: AwsClients) -> list[str]:
    return [node.status for node in cluster_nodes(clients, config.cluster.name)]


def wait_for_nodes(config: Config, *, clients: AwsClients) -> None:
    """Return when the nodes run and no other is there, or in the end: checks then say more."""
    running = ["Running"] * wanted_nodes(config)
    comes_true(lambda: _states(config, clients=clients) == running)


def comes_true(
    is_so: Callable[[], bool],
    *,
    pause_seconds: float = 0.2,
    longest_seconds: float = _LONGEST_SECONDS,
) -> bool:
    """Wait until something is so, ten minutes by default; return whether it is."""
    deadline = time.monotonic() + longest_seconds
    while not (it_is := is_so()) and time.monotonic() < deadline:
        time.sleep(pause_seconds)
    return it_is


def kubeconfig(*, url: str, ca_pem: str, token: str) -> str:
    """Return a kubeconfig file's text for a Kubernetes API; nobody has an empty token."""
    authority = base64.b64encode(ca_pem.encode()).decode()
    cluster = {"server": url, "certificate-authority-data": authority}
    named = "rehearsal"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": named,
        "clusters": [{"name": named, "cluster": cluster}],
        "users": [{"name": named, "user": {"token": token} if token else {}}],
        "contexts": [{"name": named, "context": {"cluster": named, "user": named}}],
    }
    return yaml.safe_dump(content)


def cluster_tools(environment: RehearsalEnvironment, *, directory: Path) -> ClusterTools:
    """Return kubectl and helm with the rehearsal's own access, configured in `directory`."""
    file, api = directory / "kubeconfig", environment.kubernetes
    file.touch(mode=_PRIVATE)
    text = kubeconfig(url=api.url, ca_pem=api.ca_pem, token=api.admin_token)
    file.write_text(text, encoding="utf-8")
    return ClusterTools(binaries=layer_binaries(), kubeconfig=file, home=directory)


def cluster_report(clients: AwsClients, *, name: str) -> Mapping[str, Any]:
    """Return the HyperPod cluster as the HyperPod API describes it."""
    cluster = clients("sagemaker").describe_cluster(ClusterName=name)
    return {
        "name": cluster["ClusterName"],
        "arn": cluster["ClusterArn"],
        "status": cluster["ClusterStatus"],
        "instance_groups": [
            {
                "name": group["InstanceGroupName"],
                "instance_type": _instance_types(group),
                "current_count": group["CurrentCount"],
                "target_count": group["TargetCount"],
                "status": group["Status"],
                **_in_slurm(group),
            }
            for group in (*cluster["InstanceGroups"], *cluster.get("RestrictedInstanceGroups", ()))
        ],
    }


def _in_slurm(group: Mapping[str, Any]) -> Mapping[str, str]:
    """Return what the nodes of a group are in Slurm, if they are in it: their partition, if any."""
    partitions = [f"partition {name}" for name in partitions_of(group)]
    kind = node_type(group)
    return {"slurm": " ".join([kind, *partitions])} if kind else {}


def _instance_types(group: Mapping[str, Any]) -> str:
    if "InstanceType" in group:
        return str(group["InstanceType"])
    return " or ".join(group["InstanceRequirements"]["DesiredInstanceTypes"])


def release_report(tools: ClusterTools, *, config: Config) -> Mapping[str, str] | None:
    """Return the Helm release of the HyperPod dependencies; None when helm does not list it."""
    _, listed = tools.run(f"helm list -n {config.helm.namespace} -o json")
    members = ("name", "namespace", "status", "chart")
    releases = [release for release in json.loads(listed) if release["name"] == config.helm.release]
    return {name: releases[0][name] for name in members} if releases else None


def stack_reports(clients: AwsClients, names: Sequence[str]) -> list[StackReport]:
    """Return status and duration of each stack that exists."""
    client = clients("cloudformation")
    statuses = {
        stack["StackName"]: stack["StackStatus"] for stack in client.describe_stacks()["Stacks"]
    }

    def seconds(name: str) -> float:
        events = client.describe_stack_events(StackName=name)["StackEvents"]
        times = [event["Timestamp"] for event in events]
        return round(float((max(times) - min(times)).total_seconds()), 1)

    return [
        StackReport(name=name, status=statuses[name], seconds=seconds(name))
        for name in names
        if name in statuses
    ]


def stack_outputs(clients: AwsClients, names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the documented outputs of each stack that exists, without CDK's own."""
    client = clients("cloudformation")
    return {
        stack["StackName"]: documented_outputs(stack)
        for stack in client.describe_stacks()["Stacks"]
        if stack["StackName"] in names
    }


def retained(clients: AwsClients) -> list[str]:
    """Return the resources that the stacks keep on purpose: files, and access logs."""
    file_systems = clients("fsx").describe_file_systems()["FileSystems"]
    buckets = clients("s3").list_buckets()["Buckets"]
    return [
        *(f"FSx file system {item['FileSystemId']}" for item in file_systems),
        *(
            f"S3 bucket {bucket['Name']}"
            for bucket in buckets
            if not bucket["Name"].startswith(_BOOTSTRAP)
        ),
    ]


def left_behind(
    environment: RehearsalEnvironment, *, stacks: list[str], config: Config | None = None
) -> list[str]:
    """Return what should be gone and is not: stacks, clusters, nodes, releases.

    An EKS cluster that the configuration names was there before.
    """
    kept = {config.eks_cluster_name} if config is not None and config.eks.is_existing else set()
    clients = environment.clients
    existing = clients("cloudformation").describe_stacks()["Stacks"]
    eks_clusters = clients("eks").list_clusters()["clusters"]
    return [
        *(f"stack {item['StackName']}" for item in existing if item["StackName"] in stacks),
        *(
            f"HyperPod cluster {item['ClusterName']}"
            for item in clients("sagemaker").list_clusters()["ClusterSummaries"]
        ),
        *(f"EKS cluster {name}" for name in eks_clusters if name not in kept),
        *(
            f"node {node['metadata']['name']}"
            for node in environment.kubernetes.objects("v1", "Node")
        ),
        *(
            f"Helm release {secret['metadata']['labels']['name']}"
            for secret in environment.kubernetes.objects("v1", "Secret")
            if secret["metadata"].get("labels", {}).get("owner") == "helm"
        ),
    ]


_OBJECT = "hyperpod-cdk-verification"


def verify(
    config: Config,
    *,
    tools: ClusterTools,
    clients: AwsClients,
    outputs: Mapping[str, Mapping[str, str]],
    deployer: Callable[[str], Any] | None = None,
) -> Iterator[Fact]:
    """Yield each check as it is done.

    The deployer's clients try the rights of the deployer, who verifies it too.
    """
    with new_client_from_config(config_file=str(tools.kubeconfig)) as kubernetes:
        deployment = LiveDeployment(
            config=config, client=deployer or clients, kubernetes=kubernetes, outputs=outputs
        )
        for check in checks_of(deployment):
            yield Fact(title=check.title, ok=check.ok, found=check.found, advice=check.advice)
    yield from new_objects(config, clients=clients, outputs=outputs)


def new_objects(
    config: Config, *, clients: AwsClients, outputs: Mapping[str, Mapping[str, str]]
) -> Iterator[Fact]:
    """Yield a check for each bucket whose new objects are imported.

    An object is put into each linked bucket, and deleted.
    """
    if config.storage is None:
        return
    for _, files in config.storage.file_systems:
        identifier = outputs[stack_name(config, "storage")][f"{files.output_prefix}FileSystemId"]
        for repository in files.data_repositories:
            location = _location(clients, identifier, path=repository.path)
            if location is not None and "NEW" in repository.import_events:
                yield Fact(
                    title=f"a new object of {location} is a file in {repository.path}",
                    ok=_appears(clients, identifier, path=repository.path, location=location),
                )


def _location(clients: AwsClients, file_system_id: str, *, path: str) -> str | None:
    """Return what a directory is linked to; None if it is not linked."""
    of_files = [{"Name": "file-system-id", "Values": [file_system_id]}]
    answer = clients("fsx").describe_data_repository_associations(Filters=of_files)
    links = {link["FileSystemPath"]: link["DataRepositoryPath"] for link in answer["Associations"]}
    location: str | None = links.get(path)
    return location


def _appears(clients: AwsClients, file_system_id: str, *, path: str, location: str) -> bool:
    """Return whether an object becomes a file: FSx fails to export one that is not there."""
    s3, fsx = clients("s3"), clients("fsx")
    bucket, _, prefix = location.removeprefix("s3://").partition("/")
    key = f"{prefix.rstrip('/')}/{_OBJECT}".lstrip("/")
    s3.put_object(Bucket=bucket, Key=key, Body=b"")
    task = fsx.create_data_repository_task(
        FileSystemId=file_system_id,
        Type="EXPORT_TO_REPOSITORY",
        Paths=[f"{path.strip('/')}/{_OBJECT}".lstrip("/")],
        Report={"Enabled": False},
    )["DataRepositoryTask"]["TaskId"]
    [ended] = fsx.describe_data_repository_tasks(TaskIds=[task])["DataRepositoryTasks"]
    s3.delete_object(Bucket=bucket, Key=key)
    return bool(ended["Lifecycle"] == "SUCCEEDED")
