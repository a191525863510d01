"""Failures as a Kubernetes API server words them: HTTP code, reason, message."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cause:
    """One field, by its dotted path, that is wrong.

    Attributes:
        reason: Kubernetes cause type, such as `FieldValueInvalid`.
    """

    reason: str
    field: str
    message: str


@dataclass(slots=True)
class ApiError(Exception):
    """A request that fails.

    Attributes:
        message: The sentence clients print.
        details: `details` of the Status object.
    """

    code: int
    reason: str
    message: str
    details: Object = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message

    def status(self) -> Object:
        """Return the failure as a `Status` object."""
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def qualified(*, plural: str, group: str) -> str:
    """Return a resource's name with its group: `pods`, `daemonsets.apps`."""
    return f"{plural}.{group}" if group else plural


def _details(*, plural: str, group: str, name: str) -> Object:
    return {"name": name, "group": group, "kind": plural}


def not_found(*, plural: str, group: str, name: str) -> ApiError:
    """The object does not exist."""
    message = f'{qualified(plural=plural, group=group)} "{name}" not found'
    return ApiError(404, "NotFound", message, _details(plural=plural, group=group, name=name))


def no_such_path() -> ApiError:
    """The server does not serve this path: unknown group, version or resource."""
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def already_exists(*, plural: str, group: str, name: str) -> ApiError:
    """An object of that name exists."""
    message = f'{qualified(plural=plural, group=group)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(plural=plural, group=group, name=name))


def conflict(*, plural: str, group: str, name: str) -> ApiError:
    """The object changed since the client read it."""
    message = (
        f"Operation cannot be fulfilled on {qualified(plural=plural, group=group)} "
        f'"{name}": the object has been modified; please apply your changes to the latest '
        "version and try again"
    )
    return ApiError(409, "Conflict", message, _details(plural=plural, group=group, name=name))


def bad_request(message: str) -> ApiError:
    """The request cannot be understood."""
    return ApiError(400, "BadRequest", message)


def invalid(*, kind: str, group: str, name: str, causes: Sequence[Cause]) -> ApiError:
    """The object breaks a rule of its kind, by at least one field."""
    sentences = [f"{cause.field}: {cause.message}" for cause in causes]
    listed = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    details: Object = {
        "name": name,
        "group": group,
        "kind": kind,
        "causes": [
            {"reason": cause.reason, "message": cause.message, "field": cause.field}
            for cause in causes
        ],
    }
    message = f'{qualified(plural=kind, group=group)} "{name}" is invalid: {listed}'
    return ApiError(422, "Invalid", message, details)


def method_not_allowed() -> ApiError:
    """The resource does not serve this verb."""
    message = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", message)


def unsupported_media_type(content_type: str, accepted: Sequence[str]) -> ApiError:
    """The body is in a format the server does not read here."""
    message = (
        f"the body of the request was in an unknown format ({content_type}) - "
        f"accepted media types include: {', '.join(accepted)}"
    )
    return ApiError(415, "UnsupportedMediaType", message)


def unauthorized() -> ApiError:
    """No token, or one that is not valid."""
    return ApiError(401, "Unauthorized", "Unauthorized")
