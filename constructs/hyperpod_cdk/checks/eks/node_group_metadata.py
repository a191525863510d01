"""Pods act as no node, and what asks the instance's metadata runs where it gets an answer."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Findings, warning


def node_group_metadata(config: Config) -> Findings:
    """Find groups whose pods reach the metadata, and those where a pod starts only with it.

    The load balancer controller looks up the VPC there, and its add-on documents no other way; what
    else needs the region has it from EKS Pod Identity, and agents are on the host's network.

    https://docs.aws.amazon.com/eks/latest/best-practices/identity-and-access-management.html and
    https://kubernetes-sigs.github.io/aws-load-balancer-controller/v2.13/deploy/installation/
    """
    for index, group in enumerate(config.node_groups):
        if group.shows_metadata_to_pods:
            yield warning(
                ("node_groups", index, "http_put_response_hop_limit"),
                group.http_put_response_hop_limit,
                f"gives every pod on {group.name} the role of the nodes: their network interfaces, "
                "their images and, in Kubernetes, the secrets of all pods on its node; leave it "
                "out, and give pods a role by EKS Pod Identity",
            )
        elif config.operators.inference_operator and not group.taints:
            yield warning(
                ("node_groups", index, "taints"),
                [],
                "lets the inference operator's load balancer controller onto "
                f"{group.name}, where it does not start: no pod reaches the instance metadata that "
                "tells it the VPC; give the group a taint, so that it runs on HyperPod's nodes",
            )
