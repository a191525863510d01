"""The pinned version of each EKS add-on for each Kubernetes version.

EKS updates no add-on by itself: with the pins, a new Kubernetes version brings its add-ons along,
and two deployments of one configuration have the same ones. `hyperpod-cdk addon-versions` shows
newer ones.

In `addon_versions.yaml`, with its sources.
"""

from collections.abc import Mapping
from typing import Final

from hyperpod_cdk.facts import table_of
from hyperpod_cdk.facts.operator_addons import OPERATOR_ADDONS

# By the first Kubernetes version that has the pin.
_PINS: Final[Mapping[str, Mapping[str, str]]] = {
    **{addon.name: addon.versions for addon in OPERATOR_ADDONS},
    **table_of(__package__, "addon_versions"),
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
