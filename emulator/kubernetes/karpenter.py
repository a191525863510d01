"""The definitions that HyperPod's managed Karpenter brings, by their documented fields.

https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html,
`sagemaker-hyperpod-eks-autoscaling-nodepool.html` and https://karpenter.sh/docs/concepts/nodepools/.
Rules of theirs in CEL are not evaluated.
"""

from typing import Any

Object = dict[str, Any]

_ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Object = {"type": "string"}
_NAME: Object = {"type": "string", "minLength": 1}
_TEXTS: Object = {"type": "object", "additionalProperties": _TEXT}
_QUANTITY: Object = {"x-kubernetes-int-or-string": True}


def definitions() -> list[Object]:
    """Return the CustomResourceDefinitions of node classes and node pools."""
    return [
        _definition("karpenter.sagemaker.amazonaws.com", "HyperpodNodeClass", _node_class()),
        _definition("karpenter.sh", "NodePool", _node_pool()),
    ]


def _node_class() -> Object:
    groups = {"type": "array", "items": _NAME, "minItems": 1, "maxItems": 10}
    return {
        "type": "object",
        "required": ["instanceGroups"],
        "properties": {"instanceGroups": groups},
    }


def _node_pool() -> Object:
    class_reference = {
        "type": "object",
        "required": ["group", "kind", "name"],
        "properties": {"group": _NAME, "kind": _NAME, "name": _NAME},
    }
    requirement = {
        "type": "object",
        "required": ["key", "operator"],
        "properties": {
            "key": _NAME,
            "operator": {
                "type": "string",
                "enum": ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"],
            },
            "values": {"type": "array", "items": _TEXT},
            "minValues": {"type": "integer", "minimum": 1},
        },
    }
    taint = {
        "type": "object",
        "required": ["effect", "key"],
        "properties": {
            "key": _NAME,
            "value": _TEXT,
            "effect": {"type": "string", "enum": ["NoSchedule", "PreferNoSchedule", "NoExecute"]},
        },
    }
    duration = {"type": "string", "pattern": r"^(([0-9]+(s|m|h))+|Never)$"}
    template_spec = {
        "type": "object",
        "required": ["nodeClassRef", "requirements"],
        "properties": {
            "nodeClassRef": class_reference,
            "requirements": {"type": "array", "items": requirement, "maxItems": 100},
            "expireAfter": duration,
            "terminationGracePeriod": duration,
            "taints": {"type": "array", "items": taint},
            "startupTaints": {"type": "array", "items": taint},
        },
    }
    metadata = {"type": "object", "properties": {"labels": _TEXTS, "annotations": _TEXTS}}
    budget = {
        "type": "object",
        "required": ["nodes"],
        "properties": {
            "nodes": {"type": "string", "pattern": "^((100|[0-9]{1,2})%|[0-9]+)$"},
            "reasons": {
                "type": "array",
                "items": {"type": "string", "enum": ["Drifted", "Empty", "Underutilized"]},
            },
            "schedule": {"type": "string", "pattern": r"^(@\w+|\S+(\s\S+){4})$"},
            "duration": {"type": "string", "pattern": r"^([0-9]+h)?([0-9]+m)?$"},
        },
    }
    disruption = {
        "type": "object",
        "required": ["consolidateAfter"],
        "properties": {
            "consolidateAfter": duration,
            "consolidationPolicy": {
                "type": "string",
                "enum": ["WhenEmpty", "WhenEmptyOrUnderutilized"],
            },
            "budgets": {"type": "array", "items": budget, "maxItems": 50},
        },
    }
    return {
        "type": "object",
        "required": ["template"],
        "properties": {
            "template": {
                "type": "object",
                "required": ["spec"],
                "properties": {"metadata": metadata, "spec": template_spec},
            },
            "disruption": disruption,
            "limits": {"type": "object", "additionalProperties": _QUANTITY},
            "weight": {"type": "integer", "minimum": 1, "maximum": 100},
        },
    }


def _definition(group: str, kind: str, spec: Object) -> Object:
    singular = kind.lower()
    plural = f"{singular}es" if singular.endswith("s") else f"{singular}s"
    schema = {
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": spec, "status": _ANYTHING},
    }
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "schema": {"openAPIV3Schema": schema},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Cluster",
            "names": {"kind": kind, "plural": plural, "singular": singular},
            "versions": [version],
        },
    }
