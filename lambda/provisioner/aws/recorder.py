"""Logs each call of AWS and its answer, so that what is believed of AWS can be compared with it.

Names, ARNs, account IDs and tags stay, which AWS says are no place for secrets. What may hold one
does not: values whose key is named like a secret's, tokens and signed URLs (`hyperpod_shared.
redaction`), the contents of objects, and the properties of others' resources in CloudFormation's
events, as chart values. No signed URL of STS is a call, so none gets here.
https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import boto3

from hyperpod_shared.recording import RECORDED
from hyperpod_shared.redaction import HIDDEN, is_secret_name
from provisioner.framework import log

_PROPERTIES = "ResourceProperties"
_CALL = "hyperpod-cdk:call"


def record_calls(session: boto3.Session) -> None:
    """Log each call that the session's later clients make, when it has its answer or has none."""
    session.events.register("before-parameter-build", _begin)
    session.events.register("after-call", _answered)
    session.events.register("after-call-error", _unanswered)


def _begin(*, params: object, model: Any, context: dict[str, Any], **_event: object) -> None:  # noqa: ANN401 - botocore's
    # The context is one call's own, with all its attempts.
    context[_CALL] = (
        time.monotonic(),
        {
            "at": datetime.now(UTC),
            "service": model.service_model.service_name,
            "operation": model.name,
            "parameters": _shown(params),
        },
    )


def _answered(*, parsed: Mapping[str, Any], context: Mapping[str, Any], **_event: object) -> None:
    attempts = parsed.get("ResponseMetadata", {}).get("RetryAttempts", 0)
    answer = {key: value for key, value in parsed.items() if key != "ResponseMetadata"}
    ended = {"error": answer["Error"]} if "Error" in answer else {"answer": answer}
    _log(context, retries=attempts, **ended)


def _unanswered(*, exception: Exception, context: Mapping[str, Any], **_event: object) -> None:
    _log(context, error={"Code": "", "Message": f"{type(exception).__name__}: {exception}"})


def _log(context: Mapping[str, Any], **ended: object) -> None:
    if _CALL in context:
        begun, call = context[_CALL]
        seconds = round(time.monotonic() - begun, 3)
        log.info(RECORDED, **call, seconds=seconds, **{key: _shown(ended[key]) for key in ended})


def _shown(value: object) -> object:
    """Return a value without what may be secret, as it is at this moment."""
    if isinstance(value, Mapping):
        hidden = {key for key in value if key == _PROPERTIES or is_secret_name(str(key))}
        return {key: HIDDEN if key in hidden else _shown(value[key]) for key in value}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    is_plain = value is None or isinstance(value, str | int | float | datetime)
    return value if is_plain else HIDDEN  # the content of an object
