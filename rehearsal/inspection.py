"""The cluster and the release as their own tools show them."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from hyperpod_cdk import Config
from rehearsal.aws_clients import AwsClients
from rehearsal.environment import RehearsalEnvironment
from rehearsal.layer_binaries import layer_binaries
from rehearsal.report import ClusterReport, ReleaseReport
from rehearsal.verification import ClusterTools

_PRIVATE = 0o600


def cluster_tools(environment: RehearsalEnvironment, *, directory: Path) -> ClusterTools:
    """Return kubectl and helm with the rehearsal's own access, configured in `directory`."""
    kubeconfig = directory / "kubeconfig"
    kubeconfig.touch(mode=_PRIVATE)
    authority = base64.b64encode(environment.kubernetes.ca_pem.encode()).decode()
    named = "rehearsal"
    content = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": named,
        "clusters": [
            {
                "name": named,
                "cluster": {
                    "server": environment.kubernetes.url,
                    "certificate-authority-data": authority,
                },
            }
        ],
        "users": [{"name": named, "user": {"token": environment.operator_token}}],
        "contexts": [{"name": named, "context": {"cluster": named, "user": named}}],
    }
    kubeconfig.write_text(yaml.safe_dump(content), encoding="utf-8")
    return ClusterTools(binaries=layer_binaries(), kubeconfig=kubeconfig, home=directory)


def cluster_report(clients: AwsClients, *, name: str) -> ClusterReport:
    """Return the HyperPod cluster as the HyperPod API describes it."""
    cluster = clients("sagemaker").describe_cluster(ClusterName=name)
    return ClusterReport(
        name=cluster["ClusterName"],
        arn=cluster["ClusterArn"],
        status=cluster["ClusterStatus"],
        instance_groups=[
            {
                "name": group["InstanceGroupName"],
                "instance_type": _instance_types(group),
                "current_count": group["CurrentCount"],
                "target_count": group["TargetCount"],
                "status": group["Status"],
            }
            for group in (*cluster["InstanceGroups"], *cluster.get("RestrictedInstanceGroups", ()))
        ],
    )


def _instance_types(group: Mapping[str, Any]) -> str:
    if "InstanceType" in group:
        return str(group["InstanceType"])
    return " or ".join(group["InstanceRequirements"]["DesiredInstanceTypes"])


def release_report(tools: ClusterTools, *, config: Config) -> ReleaseReport | None:
    """Return the Helm release of the HyperPod dependencies; None when helm does not list it."""
    _, listed = tools.run(f"helm list -n {config.helm.namespace} -o json")
    for item in json.loads(listed):
        if item["name"] == config.helm.release:
            return ReleaseReport(
                name=item["name"],
                namespace=item["namespace"],
                status=item["status"],
                chart=item["chart"],
            )
    return None
