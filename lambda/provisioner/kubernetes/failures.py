"""What a failure of helm or kubectl means, read from the last lines that it printed."""

import re

_LAST_LINES = 6
_NOT_FOUND = "release: not found"
_TRANSIENT = re.compile(
    r"(?i)unauthorized|must be logged in|provide credentials|connection (refused|reset)|i/o timeout"
    r"|no such host|TLS handshake timeout|\bEOF\b|too many requests|service unavailable"
    r"|internal server error|context deadline exceeded|cluster unreachable"
    r"|etcdserver: (leader|request timed out)|server is currently unable|connection to the server"
    r"|client connection lost"
)
# A token that expires while helm asks which kinds there are makes it miss kinds of Kubernetes' own.
_HALF_DISCOVERED = re.compile(
    r'no matches for kind "\w+" in version '
    r'"((apps|autoscaling|batch|policy)/|[a-z.]+\.k8s\.io/)?v\d+"'
)
_TERMINATING = re.compile(
    r"(?i)being terminated|object is being deleted|is terminating"
    r"|(create|update) not allowed while custom resource definition is terminating"
)
_BUSY = re.compile(
    r"another operation \(install/upgrade/rollback\) is in progress"
    r'|secrets "sh\.helm\.release\.v1\.\S+" already exists'
)
# The API server's own limit, etcd's, and gRPC's between the two.
_TOO_LARGE = re.compile(
    r"(?is)sh\.helm\.release\.v1\.\S+\" is invalid.*too long"
    r"|request entity too large|request is too large|larger than max"
)


class CommandFailedError(Exception):
    """helm or kubectl returned an error; the text is its last lines."""

    @property
    def is_transient(self) -> bool:
        """Whether the API was not reachable or did not know us (any more)."""
        return bool(_TRANSIENT.search(str(self)))

    @property
    def may_pass(self) -> bool:
        """Whether another attempt, with a new token, may well succeed."""
        return self.is_transient or self.is_busy or bool(_HALF_DISCOVERED.search(str(self)))

    @property
    def is_terminating(self) -> bool:
        """Whether something of the same name is still being deleted."""
        return bool(_TERMINATING.search(str(self)))

    @property
    def is_not_found(self) -> bool:
        """Whether there is no such release."""
        return _NOT_FOUND in str(self)

    @property
    def is_busy(self) -> bool:
        """Whether another helm works on the release."""
        return bool(_BUSY.search(str(self)))

    @property
    def is_unowned(self) -> bool:
        """Whether an object of the chart exists and is no release's, or another one's."""
        return "cannot be imported into the current release" in str(self)

    @property
    def is_too_large(self) -> bool:
        """Whether the release does not fit the Secret in which helm keeps it."""
        return bool(_TOO_LARGE.search(str(self)))


class CommandTimeoutError(CommandFailedError):
    """The command had to be stopped because its time was up."""


def last_lines(errors: str) -> str:
    """Return what was said last, each line once: from the final ``Error:`` on, else the end."""
    lines = [line.strip() for line in errors.splitlines() if line.strip()]
    last = lines[-_LAST_LINES:]
    for number in range(len(lines) - 1, -1, -1):
        if lines[number].startswith("Error:"):
            last = [line.removeprefix("Error:").strip() for line in lines[number:]]
            break
    return " | ".join(dict.fromkeys(last))
