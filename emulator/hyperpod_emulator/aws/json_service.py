"""Services of the AWS JSON 1.1 protocol: added to MiniStack, and the HyperPod API elsewhere."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from email.message import Message
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.ministack import (
    Response,
    app,
    get_account_id,
    get_region,
    iam_evaluator,
    router,
)
from hyperpod_emulator.aws.settings import own_settings


class ServiceError(Exception):
    """An error the client sees: its code, such as ValidationException, and its message."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def respond(content: Mapping[str, Any], *, status: int = 200) -> Response:
    """Return a response with a JSON body."""
    return status, {"Content-Type": "application/x-amz-json-1.1"}, json.dumps(content).encode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request; MiniStack has authenticated it by then, under AUTH.

    Authorization stays with who answers (`authorization.py`): resolving the resource's ARN may need
    a call elsewhere, which MiniStack's own enforcement, on the event loop, has no place for.
    """

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def operation(self) -> str:
        """The operation's name, from the header X-Amz-Target."""
        return self.headers.get("x-amz-target", "").rpartition(".")[2]

    @property
    def request(self) -> dict[str, Any]:
        """What is in the body."""
        content: dict[str, Any] = json.loads(self.body or b"{}")
        return content


Content = Mapping[str, Any] | Response
"""What is answered: the members of a JSON object, or the whole response."""


def register(
    *, service: str, target_prefix: str, answer: Callable[[Asked], Coroutine[Any, Any, Content]]
) -> None:
    """Answer the requests to a service, or the errors that are raised.

    Args:
        service: The signing name, which is also the service's name inside MiniStack.
        target_prefix: What X-Amz-Target starts with.
        answer: Gets each request.
    """

    async def handle(
        method: str, path: str, headers: Mapping[str, str], body: bytes, _query: Mapping[str, Any]
    ) -> Response:
        try:
            content = await answer(Asked(method=method, path=path, headers=headers, body=body))
        except ServiceError as error:
            status, own, told = respond({"__type": error.code, "message": str(error)}, status=400)
            return status, own | {"x-amzn-errortype": error.code}, told
        return content if isinstance(content, tuple) else respond(content)

    router.SERVICE_PATTERNS[service] = {"target_prefixes": [target_prefix]}
    app.SERVICE_HANDLERS[service] = handle


TIMEOUT_SECONDS = 60
_PASSED_BACK = ("Content-Type", "x-amzn-errortype")


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClient:
    """The HyperPod API, called on behalf of the caller by whose credentials requests are signed."""

    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """Where it is; empty without one."""
        return own_settings().hyperpod_api

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
                "ServiceUnavailable", f"The HyperPod API does not answer: {error}"
            ) from error


def _response(status: int, headers: Message, body: bytes) -> Response:
    return status, {name: headers[name] for name in _PASSED_BACK if name in headers}, body
