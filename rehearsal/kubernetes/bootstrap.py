"""The objects that a new cluster has."""

from rehearsal.kubernetes.errors import Object

OBJECTS: list[Object] = [
    *(
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        for name in ("default", "kube-node-lease", "kube-public", "kube-system")
    ),
    *(
        {
            "apiVersion": "scheduling.k8s.io/v1",
            "kind": "PriorityClass",
            "metadata": {"name": name},
            "value": value,
            "description": description,
            "preemptionPolicy": "PreemptLowerPriority",
        }
        for name, value, description in (
            ("system-cluster-critical", 2_000_000_000, "Pods the cluster needs."),
            ("system-node-critical", 2_000_001_000, "Pods a node needs."),
        )
    ),
    {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kubernetes", "namespace": "default"},
        "spec": {
            "clusterIP": "172.20.0.1",
            "ports": [{"name": "https", "port": 443, "protocol": "TCP", "targetPort": 443}],
        },
    },
    *(
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": "default", "namespace": namespace},
        }
        for namespace in ("default", "kube-system")
    ),
]
