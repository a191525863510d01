"""Scenarios in which the HyperPod stack is destroyed while users have work in the cluster."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from botocore.exceptions import ClientError

from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.terminal.errors import REFUSED
from hyperpod_emulator.hyperpod import Faults
from hyperpod_rehearsal.deployer import let_into
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import (
    ON_EKS,
    Scenario,
    all_nodes_run,
    cluster_is,
    compared,
    has_status,
    succeeds,
)
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.verification import release_report

_COMMAND = re.compile(
    r"aws eks tag-resource --region (\S+) --resource-arn (\S+) --tags (\S+)=(\S+);"
)
_CHECK = "deletion-check"
_WITHOUT_CONSENT = {**ON_EKS, "helm.delete_user_objects": False}
METRICS: dict[str, Any] = {
    "apiVersion": "apiregistration.k8s.io/v1",
    "kind": "APIService",
    "metadata": {"name": "v1beta1.metrics.k8s.io"},
    "spec": {
        "group": "metrics.k8s.io",
        "version": "v1beta1",
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "insecureSkipTLSVerify": True,
        "service": {"name": "metrics-server", "namespace": "kube-system"},
    },
}
"""The aggregated API of metrics-server, whose pods need a node."""


_CONTAINERS = {"containers": [{"name": "main", "image": "example/main:1"}]}
# Of a kind whose definition goes with the Helm release.
_MPI_JOB = {
    "apiVersion": "kubeflow.org/v2beta1",
    "kind": "MPIJob",
    "metadata": {"name": "allreduce", "namespace": "default"},
    "spec": {"mpiReplicaSpecs": {"Launcher": {"replicas": 1, "template": {"spec": _CONTAINERS}}}},
}


def _pod(name: str, namespace: str = "default", **spec: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {**spec, **_CONTAINERS},
    }


def _create(stage: Stage, item: Mapping[str, Any]) -> Fact:
    path = stage.work_directory / "user-object.json"
    path.write_text(json.dumps(item), encoding="utf-8")
    ok, said = stage.tools.run(f"kubectl create -f {path}")
    name = f"{item['kind']} {item['metadata']['name']}"
    return Fact(title=f"a user creates {name}{'' if ok else f': {said}'}", ok=ok)


def _consent(stage: Stage, message: str) -> Iterator[Fact]:
    """Run the command that a refusal names, as the user would."""
    command = _COMMAND.search(" ".join(message.split()))
    yield Fact(title="the refusal names the command that consents", ok=command is not None)
    if command is not None:
        region, arn, key, value = command.groups()
        stage.deployer.client("eks").tag_resource(resourceArn=arn, tags={key: value})
        yield Fact(title="the command is for the region", ok=region == stage.environment.region)


def _everything_runs(stage: Stage) -> Iterator[Fact]:
    """Yield the checks that nothing of the stack was deleted."""
    yield cluster_is(stage, "InService")
    yield all_nodes_run(stage)
    yield _dns_is(stage, "ACTIVE")
    release = release_report(stage.tools, config=stage.config)
    yield Fact(title="the Helm release is there", ok=release is not None)


def _dns_is(stage: Stage, wanted: str) -> Fact:
    """Return the check that CoreDNS is installed, with a status that tells whether it has nodes."""
    eks, cluster = stage.environment.clients("eks"), stage.config.eks_cluster_name
    answer = answer_of(eks.describe_addon, clusterName=cluster, addonName="coredns")
    status = "gone" if answer is None else answer["addon"]["status"]
    return compared(f"CoreDNS is {wanted}", status, wanted)


def _goes_on(stage: Stage) -> Fact:
    return compared("hyperpod-cdk destroy goes on", stage.look(_CHECK), (0, ""))


@Scenario(begins="deployed", needs=_WITHOUT_CONSENT)
def destroy_refused(stage: Stage) -> Iterator[Fact]:
    """`hyperpod-cdk destroy` while a user's pod runs."""
    code, said = stage.look(_CHECK, credentials={})
    yield Fact(
        title="hyperpod-cdk destroy refuses to go on unchecked for a user without access to the "
        "cluster",
        ok=code == REFUSED and "Could not find out what users would lose" in said,
    )
    let_into(
        stage.config.eks_cluster_name,
        clients=stage.environment.clients,
        user=stage.deployer.user,
        account=stage.environment.aws.account,
        # Sees everything in the cluster, Helm's Secrets included, and changes nothing.
        policy="AmazonEKSAdminViewPolicy",
    )
    yield _goes_on(stage)
    node = stage.environment.kubernetes.objects("v1", "Node")[0]["metadata"]["name"]
    yield _create(stage, _pod("notebook", nodeName=node))
    code, said = stage.look(_CHECK)
    refused = code == REFUSED and "Pod default/notebook" in said and said.count("\n") == 1
    yield Fact(
        title="hyperpod-cdk destroy names the running pod in one line", ok=refused, message=said
    )
    yield Fact(title="the stack is as it was", ok=stage.status("hyperpod") != "DELETE_FAILED")
    yield from _everything_runs(stage)
    yield from _consent(stage, said)
    yield _goes_on(stage)
    yield succeeds("the stack is destroyed", stage.destroy("hyperpod"))
    yield cluster_is(stage, "gone")


@Scenario(begins="deployed", needs=_WITHOUT_CONSENT)
def destroy_failed(stage: Stage) -> Iterator[Fact]:
    """The stack is deleted without `hyperpod-cdk destroy`, while a user has a job."""
    yield _create(stage, _MPI_JOB)
    message = stage.destroy("hyperpod") or ""
    yield Fact(title="CloudFormation refuses to delete", ok=message != "")
    yield Fact(
        title="the error names the job", ok="MPIJob default/allreduce" in message, message=message
    )
    yield has_status(stage, "hyperpod", "DELETE_FAILED")
    yield from _everything_runs(stage)
    yield _cannot_be_updated(stage)
    yield from _consent(stage, message)
    yield succeeds("the stack is destroyed", stage.destroy("hyperpod"))
    yield Fact(title="the stack is gone", ok=stage.status("hyperpod") is None)
    yield cluster_is(stage, "gone")


@Scenario(begins="deployed")
def destroy_and_redeploy(stage: Stage) -> Iterator[Fact]:
    """Nodes, an API without nodes and a pod of a deep health check are left behind."""
    on_eks = stage.config.control_plane is not None
    if on_eks:
        yield _create(stage, METRICS)
        account = "deep-health-check-service-account"
        yield _create(stage, _pod("stress", "aws-hyperpod", serviceAccountName=account))
    stage.environment.hyperpod.faults = Faults(nodes_left_in_kubernetes=True)
    yield succeeds("the stack is destroyed", stage.destroy("hyperpod"))
    if on_eks:
        yield from _left_in_kubernetes(stage)
    yield succeeds("the stack is deployed again", stage.deploy())
    yield all_nodes_run(stage)
    if on_eks:
        yield _dns_is(stage, "ACTIVE")
        stage.tools.run(f"kubectl delete apiservice {METRICS['metadata']['name']}")


def _left_in_kubernetes(stage: Stage) -> Iterator[Fact]:
    """Yield the checks of what the cluster has left in Kubernetes."""
    yield has_status(stage, "addons", "CREATE_COMPLETE", "UPDATE_COMPLETE")
    yield _dns_is(stage, "DEGRADED")
    left = stage.environment.kubernetes.objects("v1", "Node")
    yield Fact(title=f"Kubernetes knows no node any more ({len(left)})", ok=not left)
    _, listed = stage.tools.run("kubectl get namespaces -o name")
    terminating = "namespace/aws-hyperpod" in listed
    yield Fact(title="the metrics API, which has no node, holds the namespaces", ok=terminating)


def _cannot_be_updated(stage: Stage) -> Fact:
    """Return the check that a property could not consent any more."""
    cloudformation = stage.environment.clients("cloudformation")
    try:
        cloudformation.update_stack(StackName=stage.stack("hyperpod"), UsePreviousTemplate=True)
    except ClientError as error:
        return Fact(title=f"an update is refused: {error}", ok="DELETE_FAILED" in str(error))
    return Fact(title="an update is refused", ok=False)
