"""Kubernetes labels and taints of an instance group's nodes."""

from collections.abc import Iterator, Mapping
from typing import Annotated

from pydantic import AfterValidator, Field

from hyperpod_cdk.config.faults import Fault, refuse
from hyperpod_cdk.config.limits import ApiLimits, limit_faults
from hyperpod_cdk.config.section import Section
from hyperpod_cdk.service_limits import shape


def _check(value: dict[str, str]) -> dict[str, str]:
    refuse(_label_faults(value))
    return value


def _label_faults(labels: Mapping[str, str]) -> Iterator[Fault]:
    limits = shape("sagemaker.ClusterKubernetesLabels")
    yield from limit_faults(len(labels), limits=limits, noun="the number of labels")
    keys = shape("sagemaker.ClusterKubernetesLabelKey")
    values = shape("sagemaker.ClusterKubernetesLabelValue")
    for key, value in labels.items():
        for fault in limit_faults(key, limits=keys, noun="a label's key"):
            yield fault.under(key)
        for fault in limit_faults(value, limits=values, noun="a label's value"):
            yield fault.under(key)


Labels = Annotated[
    dict[str, str], AfterValidator(_check), Field(json_schema_extra={"maxProperties": 50})
]
"""Kubernetes labels, keys with an optional DNS prefix."""


class TaintConfig(Section):
    """A taint, which keeps off pods that do not tolerate it."""

    key: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterKubernetesTaintKey", noun="a taint's key")
    ]
    """Key of the taint, with an optional DNS prefix."""

    value: (
        Annotated[
            str,
            ApiLimits(shape_name="sagemaker.ClusterKubernetesTaintValue", noun="a taint's value"),
        ]
        | None
    ) = None
    """Value of the taint. Default: none."""

    effect: Annotated[
        str, ApiLimits(shape_name="sagemaker.ClusterKubernetesTaintEffect", noun="a taint's effect")
    ]
    """NoSchedule, PreferNoSchedule or NoExecute."""
