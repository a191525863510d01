"""Labels and taints of nodes, and the keys that they may have."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from hyperpod_cdk.facts.service_limits import shape
from hyperpod_cdk.schema.errors import Finding
from hyperpod_cdk.schema.limits import ApiLimits, limit_findings
from hyperpod_cdk.schema.section import Api, Section, judged

_LONGEST_DOMAIN, _LONGEST_NAME = 253, 63
_SERVICE_DOMAIN = "sagemaker.amazonaws.com"
_KUBERNETES_DOMAINS = ("kubernetes.io", "k8s.io")


def key_refusal(key: str) -> str | None:
    """Say why a key cannot be used; None for one that can.

    https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-resiliency-node-labels.html
    """
    domain, _, name = key.rpartition("/")
    if len(domain) > _LONGEST_DOMAIN:
        return f"must have a domain of at most {_LONGEST_DOMAIN} characters before its slash"
    if len(name) > _LONGEST_NAME:
        return f"must have at most {_LONGEST_NAME} characters, or as many after its slash"
    if _under(domain, _SERVICE_DOMAIN):
        return f"must have another domain than {_SERVICE_DOMAIN}, whose keys HyperPod writes"
    return None


def key_reservation(key: str) -> str | None:
    """Return why a key should not be used, or None.

    https://kubernetes.io/docs/reference/labels-annotations-taints/
    """
    domain = key.rpartition("/")[0]
    for reserved in _KUBERNETES_DOMAINS:
        if _under(domain, reserved):
            return f"has a domain of {reserved}, which Kubernetes keeps for itself; take your own"
    return None


def _under(domain: str, parent: str) -> bool:
    return domain == parent or domain.endswith(f".{parent}")


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


Labels = Annotated[dict[str, str], judged(_label_findings), Field(json_schema_extra=_limit_schema)]
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
