"""The CustomResourceDefinitions that AWS's operators bring, by their documented fields.

Of HyperPod's managed Karpenter:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-autoscaling-nodeclass.html,
`sagemaker-hyperpod-eks-autoscaling-nodepool.html` and https://karpenter.sh/docs/concepts/nodepools/.
Rules of theirs in CEL are not evaluated. Of HyperPodPyTorchJob:
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html,
`sagemaker-eks-operator-usage.html` and https://github.com/aws/sagemaker-hyperpod-cli
(`HyperPodPytorchJob`).
"""

from typing import Any

Object = dict[str, Any]

ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_TEXT: Object = {"type": "string"}
_NAME: Object = {"type": "string", "minLength": 1}
_TEXTS: Object = {"type": "object", "additionalProperties": _TEXT}
_WHOLE: Object = {"type": "integer", "minimum": 0}
_POSITIVE: Object = {"type": "integer", "minimum": 1}


def definition(
    kind: str, *, group: str, schema: Object, version: str = "v1", scope: str = "Namespaced"
) -> Object:
    """Return the definition of a kind, whose plural is an English one."""
    singular = kind.lower()
    plural = f"{singular}es" if singular.endswith("s") else f"{singular}s"
    served = {
        "name": version,
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
            "scope": scope,
            "names": {"kind": kind, "plural": plural, "singular": singular},
            "versions": [served],
        },
    }


def hyperpod_pytorch_job() -> Object:
    """Return the definition of the jobs of HyperPod's training operator."""
    replicas = _object(
        "name",
        name=_TEXT,
        replicas=_WHOLE,
        maxReplicas=_WHOLE,
        spares=_WHOLE,
        template=ANYTHING,
    )
    policy = _object(
        cleanPodPolicy=_one_of("All", "None", "OnlyComplete"),
        jobMaxRetryCount=_WHOLE,
        suspend={"type": "boolean"},
        ttlSecondsAfterFinished=_WHOLE,
        restartPolicy=ANYTHING,
        logMonitoringConfiguration=_list(ANYTHING),
    )
    elastic = _object(
        minReplicas=_POSITIVE,
        maxReplicas=_POSITIVE,
        replicaIncrementStep=_POSITIVE,
        replicaDiscreteValues=_list(_POSITIVE),
        scalingTimeoutInSeconds=_WHOLE,
        gracefulShutdownTimeoutInSeconds=_WHOLE,
        faultyScaleDownTimeoutInSeconds=_WHOLE,
    )
    spec = _object(
        "replicaSpecs",
        nprocPerNode={**_TEXT, "default": "auto"},
        replicaSpecs=_list(replicas),
        runPolicy=policy,
        elasticPolicy=elastic,
    )
    schema = _object(spec=spec, status=ANYTHING)
    return definition("HyperPodPyTorchJob", group="sagemaker.amazonaws.com", schema=schema)


def karpenter() -> list[Object]:
    """Return the definitions of node classes and node pools."""
    groups = _list(_NAME, minItems=1, maxItems=10)
    node_class = _object("instanceGroups", instanceGroups=groups)
    return [
        definition(
            kind, group=group, scope="Cluster", schema=_object("spec", spec=spec, status=ANYTHING)
        )
        for kind, group, spec in (
            ("HyperpodNodeClass", "karpenter.sagemaker.amazonaws.com", node_class),
            ("NodePool", "karpenter.sh", _node_pool()),
        )
    ]


def _node_pool() -> Object:
    requirement = _object(
        "key",
        "operator",
        key=_NAME,
        operator=_one_of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"),
        values=_list(_TEXT),
        minValues=_POSITIVE,
    )
    effect = _one_of("NoSchedule", "PreferNoSchedule", "NoExecute")
    taints = _list(_object("effect", "key", key=_NAME, value=_TEXT, effect=effect))
    duration = _like(r"^(([0-9]+(s|m|h))+|Never)$")
    spec = _object(
        "nodeClassRef",
        "requirements",
        nodeClassRef=_object("group", "kind", "name", group=_NAME, kind=_NAME, name=_NAME),
        requirements=_list(requirement, maxItems=100),
        expireAfter=duration,
        terminationGracePeriod=duration,
        taints=taints,
        startupTaints=taints,
    )
    budget = _object(
        "nodes",
        nodes=_like("^((100|[0-9]{1,2})%|[0-9]+)$"),
        reasons=_list(_one_of("Drifted", "Empty", "Underutilized")),
        schedule=_like(r"^(@\w+|\S+(\s\S+){4})$"),
        duration=_like(r"^([0-9]+h)?([0-9]+m)?$"),
    )
    disruption = _object(
        "consolidateAfter",
        consolidateAfter=duration,
        consolidationPolicy=_one_of("WhenEmpty", "WhenEmptyOrUnderutilized"),
        budgets=_list(budget, maxItems=50),
    )
    metadata = _object(labels=_TEXTS, annotations=_TEXTS)
    quantity = {"x-kubernetes-int-or-string": True}
    return _object(
        "template",
        template=_object("spec", metadata=metadata, spec=spec),
        disruption=disruption,
        limits={"type": "object", "additionalProperties": quantity},
        weight={**_POSITIVE, "maximum": 100},
    )


def _object(*required: str, **properties: Object) -> Object:
    needed = {"required": [*required]} if required else {}
    return {"type": "object", "properties": properties, **needed}


def _list(items: Object, **limits: int) -> Object:
    return {"type": "array", "items": items, **limits}


def _one_of(*values: str) -> Object:
    return {**_TEXT, "enum": [*values]}


def _like(pattern: str) -> Object:
    return {**_TEXT, "pattern": pattern}
