"""What a template asks for of the HyperPod cluster, from whichever version it is: pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hyperpod_cdk.effects.effect import Template, properties_of
from hyperpod_shared.clusters import COUNT, GROUP_LISTS, NAME, ClusterInput

_CUSTOM, _NATIVE = "Custom::HyperPodCluster", "AWS::SageMaker::Cluster"
CLUSTER_TYPES = (_CUSTOM, _NATIVE)
"""The types of the resource that makes the cluster."""
# What only AWS knows. Two of them compare as equal: another name need not be another thing.
_REFERENCE = "<known once it is deployed>"
_FUNCTION = re.compile(r"Ref$|Fn::")


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
            plain = _plain(properties)
            request = plain if is_native else json.loads(plain["Request"])
            for group in (each for key in GROUP_LISTS for each in request.get(key) or ()):
                _ = (group[NAME] + "", int(group[COUNT]), {**group})
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError):
            return None
        return ClusterResource(
            request=request, is_native=is_native, software=plain.get("SoftwareUpdate", "")
        )
    return None


def _plain(value: Any) -> Any:  # noqa: ANN401 - any JSON
    match value:
        case {"Fn::Join": [separator, [*parts]]}:
            return str(separator).join(str(_plain(part)) for part in parts)
        case Mapping() if len(value) == 1 and _FUNCTION.match(next(iter(value))):
            return _REFERENCE
        case Mapping():
            return {key: _plain(item) for key, item in value.items()}
        case [*items]:
            return [_plain(item) for item in items]
        case _:
            return value
