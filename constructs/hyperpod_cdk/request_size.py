"""How large a HyperPod cluster's request may be on its way to the provisioner."""

import json
from typing import Any

from aws_cdk import Stack
from constructs import Construct

# Input of a Step Functions execution, which the provider framework's waiter starts with the event.
# https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
_MOST_EVENT_BYTES = 262_144
# ARNs, ids, the signed response URL, the other properties.
_REST_BYTES = 8_192
MOST_REQUEST_BYTES = (_MOST_EVENT_BYTES - _REST_BYTES) // 2
"""Of one request as a JSON text within JSON; an update carries the old and the new one."""


class TooLargeError(Exception):
    """What a configuration makes is larger than AWS takes; one line says what and what to do."""


def request_bytes(scope: Construct, request: Any) -> int:  # noqa: ANN401 - any JSON value
    """Return the size of a request in an event; a reference counts as long as it is written."""
    text = json.dumps(Stack.of(scope).resolve(request), separators=(",", ":"))
    return len(json.dumps(text).encode())


def refuse_large_request(scope: Construct, request: Any) -> None:  # noqa: ANN401
    """Refuse a request that would not reach the provisioner.

    Raises:
        TooLargeError: It is too large.
    """
    size = request_bytes(scope, request)
    if size > MOST_REQUEST_BYTES:
        raise TooLargeError(
            f"{scope.node.path}: the request for the HyperPod cluster has {size:,} bytes, but at "
            f"most {MOST_REQUEST_BYTES:,} reach the provisioner: use fewer groups, labels or taints"
        )
