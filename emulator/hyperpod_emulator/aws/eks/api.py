"""MiniStack's EKS, called in-process, and requests to it that it does not know."""

import json
import re
import time
import uuid
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.ministack import Response, eks, wrap
from hyperpod_emulator.aws.refused import Refused

Query = Mapping[str, list[str]]
CONFIG = r"/clusters/([A-Za-z0-9_-]+)/update-config"
"""The path of UpdateClusterConfig."""


def answer(response: Response) -> dict[str, Any]:
    """Return the body of an operation's response, or refuse what EKS answered with an error."""
    status, _headers, body = response
    content: dict[str, Any] = json.loads(body)
    if status >= HTTPStatus.BAD_REQUEST:
        raise Refused(f"{content['__type']}: {content['message']}")
    return content


def gone_or_answer(response: Response) -> None:
    """Accept a deletion's response, also when there was nothing to delete."""
    if response[0] != HTTPStatus.NOT_FOUND:
        answer(response)


def refusal(message: str, *, code: str = "InvalidParameterException") -> Response:
    """Return the response to a bad request."""
    return eks._error(HTTPStatus.BAD_REQUEST, code, message)


def update(kind: str, **members: object) -> dict[str, Any]:
    """Return an update that has just begun."""
    made = {"id": str(uuid.uuid4()), "status": "InProgress", "type": kind}
    return {**made, "createdAt": time.time(), "errors": [], **members}


def updating(made: Mapping[str, Any]) -> Response:
    """Return the response of an operation that has begun an update, or describes one."""
    return eks._json_resp(HTTPStatus.OK, {"update": made})


def no_update(identifier: str) -> Response:
    """Return the response of a description of an update that is not there."""
    message = f"No update found for {identifier}."
    return eks._error(HTTPStatus.NOT_FOUND, "ResourceNotFoundException", message)


def route(
    method: str,
    path: str,
    handle: Callable[[re.Match[str], dict[str, Any], Query], Response | None],
) -> None:
    """Answer requests that MiniStack does not know.

    Args:
        method: Of HTTP.
        path: Pattern of the path.
        handle: Gets the match, the request's body and its query; None leaves it to MiniStack.
    """

    def handled(others: Callable[..., Response], *request: Any) -> Response:
        asked, at, _headers, body, query = request
        match = re.fullmatch(path, at) if asked == method else None
        response = None if match is None else handle(match, json.loads(body or b"{}"), query)
        return others(*request) if response is None else response

    wrap(eks, "_handle_request_sync", handled)
