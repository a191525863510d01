"""What a request is about, and what a write did."""

from collections.abc import Sequence
from dataclasses import dataclass

from emulator.kubernetes.objects.errors import Object, bad_request
from emulator.kubernetes.objects.metadata import name_of, namespace_of
from emulator.kubernetes.objects.resources import Resource


@dataclass(frozen=True, slots=True)
class Target:
    """What a URL names.

    Attributes:
        resource: The resource.
        namespace: Namespace in the URL; empty at the cluster scope.
        name: Name in the URL; empty for a collection.
    """

    resource: Resource
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Written:
    """The outcome of a write.

    Attributes:
        item: The object as stored.
        created: Whether it is new.
        warnings: What to warn the client of.
    """

    item: Object
    created: bool = False
    warnings: Sequence[str] = ()


def addressed(body: Object, target: Target) -> Object:
    """Return an object with the name and namespace of its URL.

    Raises:
        ApiError: The object contradicts the URL (400).
    """
    resource = target.resource
    if (body.get("apiVersion"), body.get("kind")) != (resource.api_version, resource.kind):
        raise bad_request(
            f"the object provided is {body.get('apiVersion')} {body.get('kind')}, "
            f"this URL takes {resource.api_version} {resource.kind}"
        )
    if resource.namespaced and namespace_of(body) not in ("", target.namespace):
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if name_of(body) not in ("", target.name):
        raise bad_request(
            f"the name of the object ({name_of(body)}) does not match the name on the URL "
            f"({target.name})"
        )
    metadata = {**(body.get("metadata") or {}), "name": target.name}
    # Some charts give cluster-scoped objects a namespace; a real server passes over it as well.
    metadata.pop("namespace", None)
    if target.namespace:
        metadata["namespace"] = target.namespace
    return {**body, "metadata": metadata}
