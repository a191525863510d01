"""Keys of labels and taints: what the API's own pattern for them lets pass."""

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
