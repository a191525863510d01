"""Scenarios of CloudFormation's express mode, in which nothing is waited for but our own."""

import re
import time
from collections.abc import Iterator

from hyperpod_cdk import Config
from hyperpod_emulator.aws.settings import Readiness
from hyperpod_rehearsal.owner import allow_termination, delete_file_systems
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    Scenario,
    all_nodes_run,
    cluster_is,
    has_status,
    is_refused,
    no_access_yet,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage

_FAILURE = "The subnet has no free IP address for the file system."
_FUNCTIONS = "/aws/lambda/"


@Scenario()
def dependency_not_ready(stage: Stage) -> Iterator[Fact]:
    """An express deployment goes on before EKS, an access policy and a file system are ready."""
    # Its file system is to be made in express mode.
    yield from _without_storage(stage)
    stage.environment.aws.tell(Readiness(descriptions=4, clusters_again=time.time()))
    stage.environment.kubernetes.inject(no_access_yet(times=1))
    yield succeeds("what is not ready is waited for", stage.deploy(express=True))
    yield has_status(stage, "hyperpod", "CREATE_COMPLETE")
    yield Fact(
        title="the CLI says that resources go on becoming ready",
        ok="Resources still stabilizing" in stage.last_lines,
    )
    if stage.config.control_plane is not None:
        yield _is_logged(stage, r"The EKS cluster \S+ is CREATING and has no endpoint")
    if stage.config.storage is not None:
        yield _is_logged(stage, r"The file system fs-\w+ is CREATING and cannot be mounted yet")
        yield _is_mounted_by_its_names(stage)
    yield all_nodes_run(stage)


def _lacks_storage(config: Config) -> str | None:
    return "a storage section" if config.storage is None else None


@Scenario(begins="anyhow", also_lacking=_lacks_storage)
def dependency_fails(stage: Stage) -> Iterator[Fact]:
    """An express deployment goes on, and then the file system fails for good."""
    yield from _without_storage(stage)
    stage.environment.aws.tell(Readiness(file_system_failure=_FAILURE))
    error = stage.deploy(express=True)
    yield is_refused(
        error,
        matching=rf"file system fs-\w+ is FAILED.*{re.escape(_FAILURE)}.*deploy again",
    )
    yield has_status(stage, "storage", "ROLLBACK_COMPLETE")
    # On EKS it is deployed at the same time as the storage; Slurm's nodes mount the file system.
    yield cluster_is(stage, "gone" if stage.config.control_plane is None else "InService")
    # The next deployment deletes the stack, protected as it is, and creates it again.
    left = stage.environment.clients("fsx").describe_file_systems()["FileSystems"]
    yield Fact(title="the failed creation leaves no file system", ok=not left)


def _without_storage(stage: Stage) -> Iterator[Fact]:
    """Destroy the storage stack, if it is there, and its file system, as their owner would."""
    if stage.config.storage is not None and stage.status("storage") is not None:
        allow_termination(stage.environment.clients, stage.stacks)
        yield succeeds("the storage stack is destroyed", stage.destroy("storage"))
        delete_file_systems(stage.environment.clients)


def _is_logged(stage: Stage, pattern: str) -> Fact:
    """Return the check that the provisioner's log tells what is waited for, and how long."""
    logs = stage.environment.clients("logs")
    lines = [
        event["message"]
        for group in logs.describe_log_groups(logGroupNamePrefix=_FUNCTIONS)["logGroups"]
        for event in logs.filter_log_events(logGroupName=group["logGroupName"])["events"]
        if re.search(pattern, event["message"]) and '"waited_seconds"' in event["message"]
    ]
    said = lines[0].strip() if lines else f"nothing of /{pattern}/ and for how long"
    return Fact(title=f"the log says: {said}", ok=bool(lines))


def _is_mounted_by_its_names(stage: Stage) -> Fact:
    """Return the check that the volume, or without Kubernetes each node, has the file system."""
    clients, of_storage = stage.environment.clients, stage.outputs()[stage.stack("storage")]
    (files,) = clients("fsx").describe_file_systems(FileSystemIds=[of_storage["FileSystemId"]])[
        "FileSystems"
    ]
    wanted = (files["DNSName"], files["LustreConfiguration"]["MountName"])
    if stage.config.control_plane is not None:
        (volume,) = stage.environment.kubernetes.objects("v1", "PersistentVolume")
        names = volume["spec"]["csi"]["volumeAttributes"]
        mounted = [(names["dnsname"], names["mountname"])]
    else:
        cluster = clients("sagemaker").describe_cluster(ClusterName=stage.config.cluster.name)
        mounted = [
            (mount["FsxLustreConfig"]["DnsName"], mount["FsxLustreConfig"]["MountName"])
            for group in cluster["InstanceGroups"]
            for mount in group["InstanceStorageConfigs"]
            if "FsxLustreConfig" in mount
        ]
    return Fact(
        title="what is mounted has the file system's DNS and mount name",
        ok={wanted} == {*mounted},
    )
