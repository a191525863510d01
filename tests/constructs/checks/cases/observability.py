"""Rules on metrics, and where they are shown."""

from typing import Any

from hyperpod_cdk.checks.eks.dcgm_owner import dcgm_owner
from hyperpod_cdk.checks.eks.grafana import grafana
from tests.support.configs import BY_NAME
from tests.support.rule_cases import ERROR, GPU, Cases, config, group

_PROMETHEUS: dict[str, Any] = {"prometheus": {}}
_WITHOUT_GPUS = {"cloudwatch": {"accelerators": False}}


def _gpu_operator(*, exporter: bool | None = None, on: bool = True) -> dict[str, Any]:
    values = {} if exporter is None else {"dcgmExporter": {"enabled": exporter}}
    return {
        "components": {"gpu_operator": on},
        "values": {"gpu-operator": {"gpu-operator": values}} if values else {},
    }


_CLOUDWATCH_HAS_THEM = "observability.cloudwatch.accelerators"
_MANAGED, _IN_CLUSTER = ({"kind": kind} for kind in ("managed", "in_cluster"))
_KIND = "observability.grafana.kind"
_EXPORTER = "helm.values.gpu-operator.gpu-operator.dcgmExporter.enabled"

CASES: Cases = {}
CASES[dcgm_owner] = {
    "nobody": config(group(GPU)),
    "CloudWatch alone": config(group(GPU), observability={"cloudwatch": {}}),
    "Prometheus, and the rest in CloudWatch": config(
        group(GPU), observability={**_PROMETHEUS, **_WITHOUT_GPUS}
    ),
    "Prometheus, and the GPU operator as HyperPod's chart has it": config(
        group(GPU), observability=_PROMETHEUS, helm=_gpu_operator()
    ),
    "the GPU operator alone": config(group(GPU), helm=_gpu_operator(exporter=True)),
    "values of a GPU operator that is off": config(
        group(GPU), observability=_PROMETHEUS, helm=_gpu_operator(exporter=True, on=False)
    ),
    "both add-ons": (
        config(group(GPU), observability={**_PROMETHEUS, "cloudwatch": {}}),
        (ERROR, _CLOUDWATCH_HAS_THEM),
    ),
    "CloudWatch and the GPU operator": (
        config(group(GPU), observability={"cloudwatch": {}}, helm=_gpu_operator(exporter=True)),
        (ERROR, _EXPORTER),
    ),
    "all three": (
        config(
            group(GPU),
            observability={**_PROMETHEUS, "cloudwatch": {}},
            helm=_gpu_operator(exporter=True),
        ),
        (ERROR, _CLOUDWATCH_HAS_THEM),
        (ERROR, _EXPORTER),
    ),
}
CASES[grafana] = {
    "none": config(group(GPU), observability=_PROMETHEUS),
    "managed where it is": config(group(GPU), observability={**_PROMETHEUS, "grafana": _MANAGED}),
    "managed, region unknown": config(
        group(GPU), region=None, observability={**_PROMETHEUS, "grafana": _MANAGED}
    ),
    "in the cluster where there is no managed one": config(
        group(GPU),
        region="af-south-1",
        network=BY_NAME,
        observability={**_PROMETHEUS, "grafana": _IN_CLUSTER},
    ),
    "managed where there is none": (
        config(
            group(GPU),
            region="af-south-1",
            network=BY_NAME,
            observability={**_PROMETHEUS, "grafana": _MANAGED},
        ),
        (ERROR, _KIND),
    ),
    "without Prometheus": (
        config(group(GPU), observability={"cloudwatch": {}, "grafana": _IN_CLUSTER}),
        (ERROR, _KIND),
    ),
}
