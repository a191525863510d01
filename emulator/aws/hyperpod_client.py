"""Forward SageMaker requests to the HyperPod API."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from email.message import Message
from http import HTTPStatus
from typing import Any

from emulator.aws.json_service import Response, ServiceError
from emulator.aws.ministack import get_account_id, get_region, iam_evaluator

TIMEOUT_SECONDS = 60
_PASSED_BACK = ("Content-Type", "x-amzn-errortype")


@dataclass(frozen=True, slots=True, kw_only=True)
class HyperPodClient:
    """The HyperPod API, called on behalf of the caller of each request.

    Attributes:
        url: Base URL of the API.
        headers: Headers of the request being served; its credentials name the caller.
    """

    url: str
    headers: Mapping[str, str]

    async def forward(self, operation: str, body: bytes) -> Response:
        """Pass a request on and return the API's own response, errors included.

        Raises:
            ServiceError: nothing answers.
        """
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
