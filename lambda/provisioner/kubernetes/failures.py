"""What a failure of helm or kubectl means, read from the last lines it printed, and what to do."""

import re

_LAST_LINES = 6
_TRANSIENT = re.compile(
    r"(?i)unauthorized|must be logged in|provide credentials|connection (refused|reset)|i/o timeout"
    r"|no such host|TLS handshake timeout|\bEOF\b|too many requests|service unavailable"
    r"|internal server error|context deadline exceeded|cluster unreachable"
    r"|etcdserver: (leader|request timed out)|server is currently unable|connection to the server"
    r"|client connection lost"
    # RBAC's words: an access policy takes a while to reach each API server.
    # https://docs.aws.amazon.com/eks/latest/userguide/access-policies.html
    r'|is forbidden: (?-i:User) \\?"'
)
# A token that expires while helm asks for the API's kinds makes helm miss built-in kinds.
_HALF_DISCOVERED = re.compile(
    r'no matches for kind "\w+" in version '
    r'"((apps|autoscaling|batch|policy)/|[a-z.]+\.k8s\.io/)?v\d+"'
)
_TERMINATING = re.compile(
    r"(?i)being terminated|object is being deleted|is terminating"
    r"|(create|update) not allowed while custom resource definition is terminating"
)
_IN_PROGRESS = re.compile(
    r"another operation \(install/upgrade/rollback\) is in progress"
    r'|secrets "sh\.helm\.release\.v1\.\S+" already exists'
)
_UNFINISHED_HOOK = re.compile(r"(?s)hooks? failed: .*(not ready|timed out waiting)")
# What `helm uninstall --debug` says before an error that names nothing but the release.
_UNINSTALL_ERROR = re.compile(r'msg="uninstall: [Ff]ailed[^"]*" error="?(.+?)"?$')
# What kubectl logs besides its error, once for each group of the API that it asks for.
# https://kubernetes.io/docs/concepts/cluster-administration/system-logs/#klog-output
_LOGGED = re.compile(r"^[EFIW]\d{4} [\d:.]+\s+\d+ \S+\] ")
# The size limits of the API server, of etcd, and of gRPC between the two.
_TOO_LARGE = re.compile(
    r"(?is)sh\.helm\.release\.v1\.\S+\" is invalid.*too long"
    r"|request entity too large|request is too large|larger than max"
)

DEPLOY_AGAIN = "Fix the cause and deploy again: the release recovers by itself."
CHECK_ACCESS = (
    "Check that the cluster's endpoint is open to the function and that its role has an access "
    "entry with an access policy, then deploy again."
)
_SPLIT_THE_CHART = (
    "helm keeps chart and manifests, compressed, in one Secret of at most 1 MiB: move big CRDs to "
    "the chart's crds/, drop files that it does not need, or split it into two charts, then deploy "
    "again."
)
_WAIT_FOR_DELETION = (
    "Wait until it is deleted (kubectl get namespaces shows what is terminating), then deploy "
    "again."
)
_END_THE_HOOK = (
    "A hook of the chart did not end: find out why with kubectl describe and kubectl logs of its "
    "pods, which need a node that takes them, then deploy again."
)
_NEXT_STEPS = (
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
        "the CustomResourceDefinition, then deploy again.",
    ),
    (
        r"execution error at|parse error|values don't meet the specifications|template:",
        "The chart does not accept these values: correct helm.values, then deploy again.",
    ),
    (
        r"killed by signal 9",
        "Give the provisioner function more memory, then deploy again: the release recovers by "
        "itself.",
    ),
)


class CommandFailedError(Exception):
    """helm or kubectl returned an error; the text is its last lines."""

    @property
    def is_transient(self) -> bool:
        """Whether the API was not reachable or did not accept the token."""
        return bool(_TRANSIENT.search(str(self))) and not self.is_unfinished_hook

    @property
    def is_unanswered(self) -> bool:
        """Whether a read failed because there was no answer."""
        return self.is_transient

    @property
    def is_unfinished_hook(self) -> bool:
        """Whether a hook of the chart did not end in time."""
        return bool(_UNFINISHED_HOOK.search(str(self)))

    @property
    def is_worth_retrying(self) -> bool:
        """Whether another attempt, with a new token, may well succeed."""
        return self.is_transient or self.is_in_progress or bool(_HALF_DISCOVERED.search(str(self)))

    @property
    def is_terminating(self) -> bool:
        """Whether an object of the same name is still being deleted."""
        return bool(_TERMINATING.search(str(self)))

    @property
    def is_release_not_found(self) -> bool:
        """Whether there is no such release."""
        return "release: not found" in str(self)

    @property
    def is_in_progress(self) -> bool:
        """Whether another helm process works on the release."""
        return bool(_IN_PROGRESS.search(str(self)))

    @property
    def is_owned_by_others(self) -> bool:
        """Whether an object of the chart exists that the release does not own."""
        return "cannot be imported into the current release" in str(self)

    @property
    def next_step(self) -> str:
        """What the user should do about it, as a sentence."""
        if _TOO_LARGE.search(str(self)):
            return _SPLIT_THE_CHART
        if self.is_terminating:
            return _WAIT_FOR_DELETION
        if self.is_unfinished_hook:
            return _END_THE_HOOK
        if self.is_transient:
            return CHECK_ACCESS
        for words, step in _NEXT_STEPS:
            if re.search(words, str(self), re.IGNORECASE):
                return step
        return DEPLOY_AGAIN


class UnreadableAnswerError(CommandFailedError):
    """What answered is not, or not yet, the Kubernetes API; it may be another time."""

    @property
    def is_transient(self) -> bool:
        """Always: it is as if there was no answer."""
        return True


class CommandTimeoutError(CommandFailedError):
    """The command was stopped because its time was up."""

    @property
    def is_unanswered(self) -> bool:
        """Always: it was stopped before an answer came."""
        return True


def last_lines(errors: str) -> str:
    """Return what was printed last, each line once: from the final `Error:` on, else the end.

    The error of an uninstall names the release alone; the cause is added from the lines before.
    What is logged besides an error counts only where there is nothing else.
    """
    said = [line.strip() for line in errors.splitlines() if line.strip()]
    own = [line for line in said if not _LOGGED.match(line)]
    lines = own or [_LOGGED.sub("", line) for line in said]
    last = lines[-_LAST_LINES:]
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].startswith("Error:"):
            last = [line.removeprefix("Error:").strip() for line in lines[number:]]
            last += [found[1] for line in lines if (found := _UNINSTALL_ERROR.search(line))]
            break
    return " | ".join(dict.fromkeys(last))
