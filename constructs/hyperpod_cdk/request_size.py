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


def request_bytes(scope: Construct, request: Any) -> int:  # noqa: ANN401 - any JSON value
    """Return the size of a request in an event; a reference counts as long as it is written."""
    text = json.dumps(Stack.of(scope).resolve(request), separators=(",", ":"))
    return len(json.dumps(text).encode())


def request_size_error(scope: Construct, request: Any) -> str | None:  # noqa: ANN401
    """Return what is wrong with the size of a request, if anything is."""
    size = request_bytes(scope, request)
    if size <= MOST_REQUEST_BYTES:
        return None
    return (
        f"The request for the HyperPod cluster has {size:,} bytes, at most {MOST_REQUEST_BYTES:,} "
        "reach the provisioner: use fewer instance groups, labels or taints"
    )
