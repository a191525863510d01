"""The pinned version of each EKS add-on for each Kubernetes version.

EKS updates no add-on by itself: with the pins, a new Kubernetes version brings its add-ons along,
and two deployments of one configuration have the same ones. `hyperpod-cdk addon-versions` shows
newer ones.

Sources, of which a pin is the newest version that all have:

- EKS's DescribeAddonVersions for 1.30 to 1.34, as recorded on 2026-05-12 in
  https://github.com/nudgebee/nudgebee-compatibility-registry, for all add-ons.
- The user guide's tables for 1.30 to 1.35, for CoreDNS, kube-proxy and the VPC CNI:
  https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html, `managing-kube-proxy.html`
  and `managing-vpc-cni.html`.

The training operator's version for 1.28 to 1.35 is that of
https://github.com/awslabs/awsome-distributed-ai/pull/1076 (2026-05). The Pod Identity Agent,
cert-manager, the metrics server and the CSI drivers of EBS and S3 of 1.35 are those of all the
others; Spaces of 1.35 is what the console installs (2026-07). No list names the FSx CSI
driver of 1.35: the pin is what public Terraform code for EKS 1.35 installs by default (2026-09).
EKS has been late with this driver for a new Kubernetes version before
(https://github.com/aws/containers-roadmap/issues/2625). `hyperpod-cdk deploy` asks EKS whether it
offers the pins before it begins.

CloudWatch's add-on is older than the newest one: v6.0.1 collects OpenTelemetry metrics too, at a
further price, unless told otherwise. For 1.35, public Terraform code names the pinned one
(2026-09). HyperPod's observability add-on of 1.35 is what a public sample says it is for, v1.0.5 in
its second build.

The inference operator's add-on is the last one of version 1 (2026-08), which brings the load
balancer controller and KEDA along, as its release notes give it for every Kubernetes version:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-inference-release-notes.html.
Version 2 adds a gateway that lets in all requests by default.
"""

from collections.abc import Mapping
from typing import Final

from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS

# By the first Kubernetes version that has the pin.
_PINS: Final[Mapping[str, Mapping[str, str]]] = {
    **{addon.name: addon.versions for addon in OPERATOR_ADDONS},
    "kube-proxy": {
        "1.30": "v1.30.14-eksbuild.28",
        "1.31": "v1.31.14-eksbuild.9",
        "1.32": "v1.32.13-eksbuild.5",
        "1.33": "v1.33.10-eksbuild.2",
        "1.34": "v1.34.6-eksbuild.2",
        "1.35": "v1.35.3-eksbuild.2",
    },
    "coredns": {
        "1.30": "v1.11.4-eksbuild.33",
        "1.33": "v1.13.2-eksbuild.7",
        "1.35": "v1.14.2-eksbuild.4",
    },
    "vpc-cni": {"1.30": "v1.21.1-eksbuild.7"},
    "eks-pod-identity-agent": {"1.30": "v1.3.10-eksbuild.3"},
    "aws-fsx-csi-driver": {"1.30": "v1.8.0-eksbuild.2", "1.35": "v1.9.0-eksbuild.1"},
    "amazon-cloudwatch-observability": {"1.30": "v5.4.0-eksbuild.1"},
    "amazon-sagemaker-hyperpod-observability": {
        "1.30": "v1.0.5-eksbuild.5",
        "1.35": "v1.0.5-eksbuild.2",
    },
    # It installs Kueue v0.19.2 (2026-11). AWS names Kubernetes 1.30 as the least for it, and public
    # code that runs this version takes 1.34.
    "amazon-sagemaker-hyperpod-taskgovernance": {"1.34": "v1.6.0-eksbuild.1"},
}

ADDON_VERSIONS: Final[Mapping[str, Mapping[str, str]]] = {
    version: {
        name: pins[max(fitting)]
        for name, pins in _PINS.items()
        if (fitting := [first for first in pins if first <= version])
    }
    for version in _PINS["kube-proxy"]
}
"""By Kubernetes version, then by the name of the add-on."""


_AUTOSCALER: Final = "registry.k8s.io/autoscaling/cluster-autoscaler"
# One is for the minor version of its name; an older one asks for nothing that a newer Kubernetes
# lacks. Of the digests:
# https://github.com/kubernetes/k8s.io/blob/main/registry.k8s.io/images/k8s-staging-autoscaling/images.yaml
_OLDER_AUTOSCALER: Final = (
    "v1.33.1@sha256:0d53371b73eae57dbed927a72b71d4fe756ce4dbfe528b4217a1078cb13445f0"
)
_AUTOSCALERS: Final[Mapping[str, str]] = {
    "1.35": "v1.35.2@sha256:aac369dc283927a623deb1af54696efcc722ae79255aa07788422e495bab887d",
}


def autoscaler_image(kubernetes_version: str) -> str:
    """Return the image of the Cluster Autoscaler for a Kubernetes version such as 1.34."""
    return f"{_AUTOSCALER}:{_AUTOSCALERS.get(kubernetes_version, _OLDER_AUTOSCALER)}"
