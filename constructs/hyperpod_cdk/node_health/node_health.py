"""The Helm release of the user's health check."""

from collections.abc import Collection
from pathlib import Path

from aws_cdk import aws_eks_v2 as eks
from constructs import Construct

from hyperpod_cdk.facts.instance_types import is_accelerated
from hyperpod_cdk.facts.job_resources import GPU, NEURON, job_resources
from hyperpod_cdk.helm.release import HelmRelease
from hyperpod_cdk.node_health.section import (
    NAMESPACE,
    RELEASE,
    NodeHealthConfig,
    RecurringHealthConfig,
)
from hyperpod_cdk.provisioner.provisioner import Provisioner
from hyperpod_cdk.synthesis.assets import asset_directory
from hyperpod_cdk.synthesis.refusals import refuse_large_request


class NodeHealth(Construct):
    """A script that the kubelet runs on each node with GPUs or Trainium, and what marks the nodes.

    It is a Helm release in `kube-system`. No deployment waits for its pods: a script that fails
    would fail the deployment that changes the script.

    Args:
        cluster: The EKS cluster.
        provisioner: Runs helm; needs `ProvisionerAccess` to the cluster.
        health: The script, when it has failed, and what follows.
        instance_types: HyperPod instance types of the cluster, such as `ml.p5.48xlarge`; the script
            runs on those with accelerators.
        release: Release name. Default: `node-health`.

    Raises:
        TooLargeError: The script is too large to reach the provisioner.
        ValueError: No instance type has accelerators, or HyperPod has no such type; or nothing is
            known of their devices, which recurring checks count.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        provisioner: Provisioner,
        health: NodeHealthConfig,
        instance_types: Collection[str],
        release: str = RELEASE,
    ) -> None:
        super().__init__(scope, construct_id)
        accelerated = sorted(name for name in instance_types if is_accelerated(name))
        if not accelerated:
            raise ValueError("instance_types: none of them has GPUs or Trainium")
        values = {
            **health.to_request(),
            "instanceTypes": accelerated,
        }
        if health.script is not None:
            values["script"] = Path(health.script).read_bytes().decode()
        if health.recurring is not None:
            values["recurring"] = _recurring(health.recurring, accelerated)
        refuse_large_request(
            self,
            values,
            noun=f"the script {health.script}",
            to_do="put what is long into the image",
        )
        HelmRelease(
            self,
            "Release",
            cluster=cluster,
            provisioner=provisioner,
            chart=asset_directory("charts") / "node-health",
            release=release,
            namespace=NAMESPACE,
            values=values,
        )


def _recurring(recurring: RecurringHealthConfig, accelerated: Collection[str]) -> dict[str, object]:
    """Return the chart's values: what nodes must have is known of each type that EC2 describes."""
    program = asset_directory("charts") / "validation" / "files" / "node_check.py"
    expected = {name: found for name in accelerated if (found := job_resources(name)) is not None}
    if not expected:
        raise ValueError(
            f"node_health.recurring: nothing is known of the devices of {', '.join(accelerated)}"
        )
    devices = {GPU: "gpus", NEURON: "neuron", None: "gpus"}
    return {
        **recurring.to_request(),
        "program": program.read_text("utf-8"),
        "arguments": {
            name: [f"--{devices[found.accelerator]}={found.accelerators}", f"--efa={found.efa}"]
            for name, found in expected.items()
        },
    }
