"""What to do about a failure of helm's, by what it said."""

import re

from provisioner.kubernetes.failures import CommandFailedError

DEPLOY_AGAIN = "Mend the cause and deploy again: the release is recovered by itself."
CHECK_ACCESS = (
    "Check that the cluster's endpoint is open to the function and that its role has an access "
    "entry, then deploy again."
)
_TOO_LARGE = (
    "helm keeps chart and manifests, compressed, in one Secret of at most 1 MiB: move big CRDs to "
    "the chart's crds/, drop files it does not need, or part it in two charts, then deploy again."
)
_STILL_DELETED = (
    "Wait until it is gone (kubectl get namespaces shows what holds it up), then deploy again."
)
_BY_WORDS = (
    (
        r"field is immutable",
        "Kubernetes cannot change this field: delete the object, or go back to the old value, then "
        "deploy again.",
    ),
    (
        r"forbidden|denied the request|denied by",
        "A rule of the cluster forbids it (RBAC, quota or admission policy): change the rule or "
        "the values, then deploy again.",
    ),
    (
        r"no matches for kind",
        "The cluster lacks a CustomResourceDefinition or serves another version of it: install "
        "what defines it, then deploy again.",
    ),
    (
        r"execution error at|parse error|values don't meet the specifications|template:",
        "The chart does not accept these values: correct helm.values, then deploy again.",
    ),
    (
        r"killed by signal 9",
        "Give the provisioner function more memory, then deploy again: the release is recovered by "
        "itself.",
    ),
)


def advice(error: CommandFailedError) -> str:
    """Return the next step after a failure, as a sentence."""
    if error.is_too_large:
        return _TOO_LARGE
    if error.is_terminating:
        return _STILL_DELETED
    if error.is_transient:
        return CHECK_ACCESS
    for words, step in _BY_WORDS:
        if re.search(words, str(error), re.IGNORECASE):
            return step
    return DEPLOY_AGAIN
