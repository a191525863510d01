"""What the Kubernetes schemas do not say of the built-in kinds: scope, plural, short names."""

# Every built-in kind that is not here lives in a namespace.
CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "CSIDriver",
        "CSINode",
        "CertificateSigningRequest",
        "ClusterRole",
        "ClusterRoleBinding",
        "ComponentStatus",
        "CustomResourceDefinition",
        "DeviceClass",
        "FlowSchema",
        "IPAddress",
        "IngressClass",
        "MutatingWebhookConfiguration",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "PriorityLevelConfiguration",
        "ResourceSlice",
        "RuntimeClass",
        "ServiceCIDR",
        "StorageClass",
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
        "ValidatingWebhookConfiguration",
        "VolumeAttachment",
        "VolumeAttributesClass",
    }
)

SHORT_NAMES = {
    "CertificateSigningRequest": ("csr",),
    "ConfigMap": ("cm",),
    "CronJob": ("cj",),
    "CustomResourceDefinition": ("crd", "crds"),
    "DaemonSet": ("ds",),
    "Deployment": ("deploy",),
    "Endpoints": ("ep",),
    "Event": ("ev",),
    "HorizontalPodAutoscaler": ("hpa",),
    "IPAddress": ("ip",),
    "Ingress": ("ing",),
    "LimitRange": ("limits",),
    "Namespace": ("ns",),
    "NetworkPolicy": ("netpol",),
    "Node": ("no",),
    "PersistentVolume": ("pv",),
    "PersistentVolumeClaim": ("pvc",),
    "Pod": ("po",),
    "PodDisruptionBudget": ("pdb",),
    "PriorityClass": ("pc",),
    "ReplicaSet": ("rs",),
    "ReplicationController": ("rc",),
    "ResourceQuota": ("quota",),
    "Service": ("svc",),
    "ServiceAccount": ("sa",),
    "StatefulSet": ("sts",),
    "StorageClass": ("sc",),
    "VolumeAttributesClass": ("vac",),
}

# What `kubectl get all` means.
IN_CATEGORY_ALL = frozenset(
    {
        "CronJob",
        "DaemonSet",
        "Deployment",
        "HorizontalPodAutoscaler",
        "Job",
        "Pod",
        "ReplicaSet",
        "ReplicationController",
        "Service",
        "StatefulSet",
    }
)

# Kinds whose list definition exists but that no client may store.
NOT_SERVED = frozenset({"APIGroup", "APIResource", "ComponentStatus", "Status"})

# A group version that is only another view of the objects of a newer one.
SUPERSEDED_GROUP_VERSIONS = frozenset({"autoscaling/v1"})

# English plurals that the rules of `plural_of` get wrong.
IRREGULAR_PLURALS = {"Endpoints": "endpoints"}


def plural_of(kind: str) -> str:
    """Return the resource name of a built-in kind: `NetworkPolicy` is `networkpolicies`."""
    if kind in IRREGULAR_PLURALS:
        return IRREGULAR_PLURALS[kind]
    lower = kind.lower()
    if lower.endswith("y"):
        return lower[:-1] + "ies"
    return lower + ("es" if lower.endswith(("s", "x", "ch")) else "s")
