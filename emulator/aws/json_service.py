"""Services of the AWS JSON 1.1 protocol: added to MiniStack, and the HyperPod API elsewhere."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from typing import Any

from emulator.aws.ministack import Response, app, get_account_id, get_region, iam_evaluator, router

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


TIMEOUT_SECONDS = 60
_PASSED_BACK = ("Content-Type", "x-amzn-errortype")


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClient:
    """The HyperPod API, called on behalf of the caller by whose credentials requests are signed."""

    url: str
    headers: Mapping[str, str]

    async def forward(self, operation: str, body: bytes) -> Response:
        """Pass a request on and return the API's own response, errors included."""
        return await asyncio.to_thread(self._post, operation, body)

    async def call(self, operation: str, request: Mapping[str, Any]) -> dict[str, Any] | None:
        """Make a call of our own; None when the API answers with an error."""
        status, _headers, body = await self.forward(operation, json.dumps(request).encode())
        content: dict[str, Any] = json.loads(body or b"{}")
        return content if status < HTTPStatus.BAD_REQUEST else None

    async def quotas(self) -> dict[str, float]:
        """Return the quotas on instances, by name; none without an API."""
        return await asyncio.to_thread(self._quotas) if self.url else {}

    def _quotas(self) -> dict[str, float]:
        # The URL is the emulator's own, on the loopback interface.
        with urllib.request.urlopen(f"{self.url}/quotas", timeout=TIMEOUT_SECONDS) as answer:  # noqa: S310
            found: dict[str, float] = json.loads(answer.read())
        return found

    def _post(self, operation: str, body: bytes) -> Response:
        if not self.url:
            raise ServiceError("ServiceUnavailable", "EMULATOR_HYPERPOD_API is not set.")
        # The URL is the emulator's own, on the loopback interface.
        request = urllib.request.Request(  # noqa: S310
            self.url,
            data=body,
            headers={
                "Content-Type": "application/x-amz-json-1.1",
                "X-Amz-Target": f"SageMaker.{operation}",
                "x-emulator-account": get_account_id(),
                "x-emulator-region": get_region(),
                "x-emulator-caller-arn": iam_evaluator.request_caller_arn(dict(self.headers)),
            },
        )
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:  # noqa: S310
                return _response(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            return _response(error.code, error.headers, error.read())
        except OSError as error:
            raise ServiceError(
                "ServiceUnavailable", f"The HyperPod API at {self.url} does not answer: {error}"
            ) from error


def _response(status: int, headers: Message, body: bytes) -> Response:
    return status, {name: headers[name] for name in _PASSED_BACK if name in headers}, body
