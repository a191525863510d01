"""A service of the AWS JSON 1.1 protocol, added to MiniStack's router."""

import json
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from emulator.aws.ministack import app, router

Response = tuple[int, dict[str, str], bytes]
Handler = Callable[
    [str, str, Mapping[str, str], bytes, Mapping[str, Any]], Coroutine[Any, Any, Response]
]


class ServiceError(Exception):
    """An error the client sees: its code, such as ValidationException, and its message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def respond(content: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return a response with a JSON body."""
    return status, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(content).encode()


def respond_error(error: ServiceError) -> Response:
    """Return an error as the SDKs read it."""
    status, headers, body = respond({"__type": error.code, "message": str(error)}, status=400)
    return status, headers | {"x-amzn-errortype": error.code}, body


def operation(headers: Mapping[str, str]) -> str:
    """Return the operation's name, from the header X-Amz-Target."""
    return headers.get("x-amz-target", "").rpartition(".")[2]


def register(*, service: str, target_prefix: str, handler: Handler) -> None:
    """Route requests to a handler; MiniStack has authenticated them by then, under AUTH.

    Authorization stays with the handler (`authorization.py`): resolving the resource's ARN may need
    a call elsewhere, which MiniStack's own enforcement, on the event loop, has no place for.

    Args:
        service: The signing name, which is also the service's name inside MiniStack.
        target_prefix: What X-Amz-Target starts with.
        handler: Coroutine function called with method, path, headers, body, query parameters.
    """
    router.SERVICE_PATTERNS[service] = {"target_prefixes": [target_prefix]}
    app.SERVICE_HANDLERS[service] = handler
