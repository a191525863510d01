"""The definition of HyperPodPyTorchJob, by its documented fields.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html,
`sagemaker-eks-operator-usage.html` and https://github.com/aws/sagemaker-hyperpod-cli
(`HyperPodPytorchJob`).
"""

from typing import Any

Object = dict[str, Any]


def definition() -> Object:
    """Return the CustomResourceDefinition."""
    kind = "HyperPodPyTorchJob"
    anything: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    text, whole, positive = (
        {"type": "string"},
        {"type": "integer", "minimum": 0},
        {"type": "integer", "minimum": 1},
    )
    replicas = {
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": text,
            "replicas": whole,
            "maxReplicas": whole,
            "spares": whole,
            "template": anything,
        },
    }
    policy = {
        "type": "object",
        "properties": {
            "cleanPodPolicy": {"type": "string", "enum": ["All", "None", "OnlyComplete"]},
            "jobMaxRetryCount": whole,
            "suspend": {"type": "boolean"},
            "ttlSecondsAfterFinished": whole,
            "restartPolicy": anything,
            "logMonitoringConfiguration": {"type": "array", "items": anything},
        },
    }
    elastic = {
        "type": "object",
        "properties": {
            "minReplicas": positive,
            "maxReplicas": positive,
            "replicaIncrementStep": positive,
            "replicaDiscreteValues": {"type": "array", "items": positive},
            "scalingTimeoutInSeconds": whole,
            "gracefulShutdownTimeoutInSeconds": whole,
            "faultyScaleDownTimeoutInSeconds": whole,
        },
    }
    spec = {
        "type": "object",
        "required": ["replicaSpecs"],
        "properties": {
            "nprocPerNode": {**text, "default": "auto"},
            "replicaSpecs": {"type": "array", "items": replicas},
            "runPolicy": policy,
            "elasticPolicy": elastic,
        },
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {
            "openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": spec, "status": anything},
            }
        },
    }
    group, plural = "sagemaker.amazonaws.com", f"{kind.lower()}s"
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower()},
            "versions": [version],
        },
    }
