"""Which requests the local AWS answers: those that are signed with a key that it knows.

Its port is on the loopback interface, which every account of the machine and every page in a
browser reaches, and its functions run as its user. MiniStack takes the number of an account for
the key of its root user without a look at the signature, serves some paths to anyone, and invites
pages of all origins. So each request is verified before MiniStack gets it:
https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv.html
"""

import math
import os
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote

from hyperpod_emulator.aws.ministack import (
    app,
    iam_evaluator,
    lambda_runtime,
    lambda_svc,
    responses,
    router,
    sigv4,
    wrap,
)

_Message = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[_Message]]
_Send = Callable[[_Message], Awaitable[None]]
_Serve = Callable[[_Message, _Receive, _Send], Awaitable[None]]
_Headers = Mapping[str, str]

# A page whose own name leads here cannot ask under another one. An EKS token is for STS's name.
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:\d+)?|sts\.[a-z0-9-]+\.amazonaws\.com(\.cn)?")
_ALGORITHM = "AWS4-HMAC-SHA256"
# What AWS lets do without a signature, here: the URLs by which custom resources and wait conditions
# answer, each with a random UUID; and what says that the server has started.
_UNSIGNED = re.compile(r"PUT /_ministack/cfn-(response|signal)/[^/]+|GET /_ministack/health")
_CORS = b"access-control-"
# Of a body that is read before its signature can be verified, because no header names its digest,
# as one does of S3's objects. AWS takes no longer one but for a function's code:
# https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
_LONGEST_BYTES = 16 * 1024**2


def install() -> None:
    """Let in who has the secret of root users, which is of this run, or a key that they made."""
    secret = os.environ["AWS_SECRET_ACCESS_KEY"]

    def keyed(credentials: Callable[..., dict[str, str]], config: dict[str, Any]) -> dict[str, str]:
        # MiniStack derives a function's key from ARNs that can be guessed; but for that, it uses no
        # more of the role's than the name.
        role = config.get("Role", "").rpartition("/")[2]
        return credentials({**config, "Role": f"{secret}/{role}"})

    wrap(lambda_runtime, "execution_credentials", keyed)
    wrap(lambda_svc, "execution_credentials", keyed)
    wrap(app, "app", _serve)


async def _serve(serve: _Serve, scope: _Message, receive: _Receive, send: _Send) -> None:
    if scope["type"] == "lifespan":
        await serve(scope, receive, send)
        return
    headers = _joined(scope["headers"])
    if scope["type"] != "http":
        await send({"type": "websocket.close"})
        return
    if "origin" in headers or not _HOST.fullmatch(headers.get("host", "")):
        await app._send_response(send, HTTPStatus.FORBIDDEN, {}, b"")
        return
    # By the headers first: no body of a stranger is read, or no more than one may be long.
    refusal = _refusal(scope, headers, None)
    messages: list[_Message] = []
    if refusal is None:
        is_proven = _names_body(headers) and not _is_unsigned(scope)
        longest = math.inf if is_proven else _LONGEST_BYTES
        messages = await _read(receive, headers, longest=longest)
        if not messages:
            refusal = (HTTPStatus.REQUEST_ENTITY_TOO_LARGE, {}, b"")
        else:
            body = b"".join(each.get("body", b"") for each in messages)
            refusal = _refusal(scope, headers, body)
    if refusal is not None:
        await app._send_response(send, *refusal)
        return

    async def received() -> _Message:
        return messages.pop(0) if messages else await receive()

    async def send_without_cors(message: _Message) -> None:
        if "headers" in message:
            kept = [pair for pair in message["headers"] if not pair[0].lower().startswith(_CORS)]
            message = {**message, "headers": kept}
        await send(message)

    await serve(scope, received, send_without_cors)


async def _read(receive: _Receive, headers: _Headers, *, longest: float) -> list[_Message]:
    """Return the messages of a body; none if it is longer than that many bytes."""
    told = headers.get("content-length", "0")
    left = longest if told.isdigit() and int(told) <= longest else -1
    messages: list[_Message] = []
    while left >= 0:
        messages.append(await receive())
        left -= len(messages[-1].get("body", b""))
        if not messages[-1].get("more_body"):
            break
    return messages if left >= 0 else []


def _joined(pairs: list[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return headers by their names in lower case, repeated ones as they are signed."""
    joined: dict[str, str] = {}
    for name, value in pairs:
        key, text = name.decode("latin-1").lower(), sigv4.decode_header_value(value)
        joined[key] = f"{joined[key]},{text}" if key in joined else text
    return joined


def _is_unsigned(scope: _Message) -> bool:
    return _UNSIGNED.fullmatch(f"{scope['method']} {scope['path']}") is not None


def _refusal(
    scope: _Message, headers: _Headers, body: bytes | None
) -> tuple[int, Any, bytes] | None:
    """Return the answer to who may not call, as the service that was asked words it.

    Without a body, by what the headers say: a signature of one that they do not name stays open.
    """
    method, path = scope["method"], scope["path"]
    if _is_unsigned(scope):
        return None
    query = parse_qs(scope["query_string"].decode("utf-8", "replace"), keep_blank_values=True)
    raw_path = (scope.get("raw_path") or quote(path).encode()).decode("latin-1")
    failure = _failure(method, raw_path, query, headers, body)
    if failure is None:
        return None
    service = router.detect_service(method, path, headers, query)
    error = iam_evaluator.AuthError(*failure)
    answer: tuple[int, Any, bytes] = app._credential_failure(
        service, "", responses.new_uuid(), error, headers
    )
    return answer


def _failure(
    method: str,
    raw_path: str,
    query: Mapping[str, list[str]],
    headers: _Headers,
    body: bytes | None,
) -> tuple[str, str] | None:
    """Return code and message of what is wrong with a signature, in the header or in the query."""
    presigned = "authorization" not in headers
    sent = {name: values[0] for name, values in query.items()} if presigned else headers
    algorithm = sent.get("X-Amz-Algorithm") if presigned else sent["authorization"].split(" ")[0]
    if algorithm != _ALGORITHM:
        return "MissingAuthenticationToken", "Request is missing Authentication Token"
    parse = sigv4.parse_query_signature if presigned else sigv4.parse_header_signature
    signature = parse(sent)
    if isinstance(signature, tuple):
        return signature
    # S3 looks at the time of its own URLs, which they say.
    skewed: tuple[str, str] | None = sigv4.request_time_failure(signature)
    if skewed and not (presigned and signature.service == "s3"):
        return skewed
    key = signature.access_key_id
    # MiniStack goes by the key that it reads itself.
    if router.extract_access_key_id(headers, query) != key:
        return "IncompleteSignature", "The request names two access keys."
    token = sent.get("X-Amz-Security-Token" if presigned else "x-amz-security-token", "")
    credential = iam_evaluator.resolve_credential(key, _account_of(key), token)
    if isinstance(credential, iam_evaluator.CredentialResolutionError):
        return credential.code, credential.message
    failure: tuple[str, str] | None = None
    if body is not None or _names_body(headers):
        failure = sigv4.header_signature_failure(
            signature,
            credential.secret_access_key,
            method,
            raw_path,
            query,
            headers,
            body or b"",
            presigned=presigned,
        )
    return failure


def _names_body(headers: _Headers) -> bool:
    """Say whether a signature of the headers is one of the body: of its digest, or of none."""
    named = headers.get("x-amz-content-sha256", "")
    return named != "" and not named.startswith("STREAMING-AWS4-")


def _account_of(key: str) -> str:
    """Return the account of a key, which is the key itself if it is of a root user."""
    try:
        owner = iam_evaluator.find_iam_access_key_account(key)
    except iam_evaluator.AmbiguousAccessKeyError:
        owner = None
    return str(responses._account_from_sts_session(key) or owner or key)
