"""One of the parts that bring NVIDIA's DCGM exporter has the metrics of GPUs."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.components import value_at
from hyperpod_cdk.schema.errors import Findings, KeyPath, error

# The chart of HyperPod's dependencies has it off, and values may switch it on:
# https://github.com/aws/sagemaker-hyperpod-cli, charts/gpu-operator/values.yaml
_GPU_OPERATOR = ("gpu-operator", "gpu-operator", "dcgmExporter", "enabled")
_KEYS: dict[KeyPath, str] = {
    ("observability", "prometheus"): "HyperPod's observability add-on",
    ("observability", "cloudwatch", "accelerators"): "CloudWatch's add-on",
    ("helm", "values", *_GPU_OPERATOR): "the GPU operator",
}


def dcgm_owner(config: Config) -> Findings:
    """Find a second DCGM exporter: each brings a host engine of its own to the same GPUs.

    NVIDIA lets one run next to another host engine only when it is told of it, which neither add-on
    can be; and what both collect is billed twice.

    https://docs.nvidia.com/datacenter/cloud-native/gpu-telemetry/latest/dcgm-exporter.html
    """
    observability = config.observability
    cloudwatch = observability.cloudwatch
    has = (
        observability.prometheus is not None and config.cluster.exists,
        cloudwatch is not None and cloudwatch.accelerators,
        bool(config.components.gpu_operator)
        and value_at(config.helm.values, keys=_GPU_OPERATOR) is True,
    )
    owners = [key for key, is_owner in zip(_KEYS, has, strict=True) if is_owner]
    for key in owners[1:]:
        message = (
            f"must be false: {_KEYS[owners[0]]}, by {'.'.join(map(str, owners[0]))}, has the "
            f"metrics of GPUs already, and {_KEYS[key]} would bring a second DCGM exporter"
        )
        yield error(key, True, message)
