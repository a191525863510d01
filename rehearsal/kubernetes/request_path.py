"""What the path of a request names."""

from dataclasses import dataclass
from urllib.parse import unquote

_NAMESPACE_SUBRESOURCES = frozenset({"status", "finalize"})


@dataclass(frozen=True, slots=True)
class RequestPath:
    """The parts of a path under `/api` or `/apis`; parts it does not have are empty.

    Attributes:
        group: API group; empty for the core group.
        version: Version within the group.
        namespace: Namespace.
        plural: Resource.
        name: Object.
        subresource: Part of the object, such as `status`.
    """

    group: str = ""
    version: str = ""
    namespace: str = ""
    plural: str = ""
    name: str = ""
    subresource: str = ""


def parse(path: str) -> RequestPath | None:
    """Return the parts of a path of the API; None for any other path, such as `/version`."""
    parts = [unquote(part) for part in path.strip("/").split("/")]
    if parts[0] == "api":
        group, rest = "", parts[1:]
    elif parts[0] == "apis":
        group, rest = (parts[1], parts[2:]) if len(parts) > 1 else ("", [])
    else:
        return None
    version, rest = (rest[0], rest[1:]) if rest else ("", [])
    namespace = ""
    if rest[:1] == ["namespaces"] and rest[2:] and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    plural, name, subresource = [*rest, "", "", ""][:3]
    return RequestPath(group, version, namespace, plural, name, subresource)
