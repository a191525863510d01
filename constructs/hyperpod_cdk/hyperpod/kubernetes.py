"""Kubernetes labels and taints of an instance group's nodes."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import ApiLimits, limit_findings
from hyperpod_cdk.schema.section import Api, Section


def _check(value: dict[str, str]) -> dict[str, str]:
    refuse(_label_findings(value))
    return value


def _label_findings(labels: Mapping[str, str]) -> Iterator[Finding]:
    limits = shape("sagemaker.ClusterKubernetesLabels")
    yield from limit_findings(len(labels), limits=limits, noun="the number of labels")
    keys = shape("sagemaker.ClusterKubernetesLabelKey")
    values = shape("sagemaker.ClusterKubernetesLabelValue")
    for key, value in labels.items():
        for finding in limit_findings(
            key, limits=keys, noun="a label's key such as example.com/team"
        ):
            yield finding.under(key)
        for finding in limit_findings(
            value, limits=values, noun="a label's value such as research"
        ):
            yield finding.under(key)


def _limit_schema(schema: dict[str, Any]) -> None:
    schema["maxProperties"] = shape("sagemaker.ClusterKubernetesLabels").maximum


Labels = Annotated[dict[str, str], AfterValidator(_check), Field(json_schema_extra=_limit_schema)]
"""Kubernetes labels, keys with an optional DNS prefix."""


TaintValue = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.ClusterKubernetesTaintValue", noun="a taint's value such as research"
    ),
]


class TaintConfig(Section):
    """A taint, which keeps off pods that do not tolerate it."""

    key: Annotated[
        str,
        ApiLimits(
            shape_name="sagemaker.ClusterKubernetesTaintKey",
            noun="a taint's key such as example.com/team",
        ),
        Api("Key"),
    ]
    """Key of the taint, with an optional DNS prefix."""

    value: Annotated[TaintValue | None, Api("Value")] = None
    """Value of the taint. Default: none."""

    effect: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.ClusterKubernetesTaintEffect", noun="a taint's effect"),
        Api("Effect"),
    ]
    """NoSchedule, PreferNoSchedule or NoExecute."""
