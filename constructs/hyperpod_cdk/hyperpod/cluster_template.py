"""What a template asks for of the HyperPod cluster, from whichever version it is: pure."""

import json
from dataclasses import dataclass

from hyperpod_cdk.effects.effect import Template, plain_value, properties_of
from hyperpod_shared.clusters import COUNT, GROUP_LISTS, NAME, ClusterInput

_CUSTOM, _NATIVE = "Custom::HyperPodCluster", "AWS::SageMaker::Cluster"
CLUSTER_TYPES = (_CUSTOM, _NATIVE)
"""The types of the resource that makes the cluster."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ClusterResource:
    """What a template asks for of the HyperPod cluster.

    Attributes:
        request: The CreateCluster input; what only AWS knows is one text everywhere.
        software: The text with which groups get the latest AMI.
    """

    request: ClusterInput
    is_native: bool = False
    software: object = ""


def cluster_of(template: Template) -> ClusterResource | None:
    """Return what a template, maybe another version's, asks for; None without, or if it is odd."""
    for kind, properties in properties_of(template):
        if kind not in (_CUSTOM, _NATIVE):
            continue
        is_native = kind == _NATIVE
        try:
            plain = plain_value(properties)
            request = plain if is_native else json.loads(plain["Request"])
            for group in (each for key in GROUP_LISTS for each in request.get(key) or ()):
                _ = (group[NAME] + "", int(group[COUNT]), {**group})
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None
        return ClusterResource(
            request=request, is_native=is_native, software=plain.get("SoftwareUpdate", "")
        )
    return None
