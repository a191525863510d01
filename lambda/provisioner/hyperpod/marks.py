"""What this provisioner writes on a cluster besides whose it is, as tags.

A custom resource keeps no state of its own between two invocations, and an answer of
``is_complete`` does not reach the next one. Tags do.
"""

from collections.abc import Mapping

from provisioner.framework.owner import TAG_PREFIX, digest
from provisioner.framework.request import Request

REQUEST_TAG = f"{TAG_PREFIX}request"
"""Which request made or changed the cluster last, and how many of its calls are made."""
CREATE_FAILED_TAG = f"{TAG_PREFIX}create-failed"
"""The cluster's creation failed; it is kept for a look at it and of no use otherwise."""
_DIGITS = 16


def request_mark(request: Request, *, steps_done: int = 0) -> dict[str, str]:
    """Return the tag that says how far a request has come."""
    return {REQUEST_TAG: f"{digest(request.request_id)[:_DIGITS]}:{steps_done}"}


def is_of_request(tags: Mapping[str, str], request: Request) -> bool:
    """Say whether the cluster was made, or changed last, by this very request."""
    return tags.get(REQUEST_TAG, "").startswith(f"{digest(request.request_id)[:_DIGITS]}:")


def steps_marked(tags: Mapping[str, str], request: Request) -> int:
    """Return how many of the request's calls were made according to the tags."""
    return int(tags[REQUEST_TAG].partition(":")[2]) if is_of_request(tags, request) else 0


def was_created_by(tags: Mapping[str, str], request: Request) -> bool:
    """Say whether this very request made the cluster and did nothing else to it."""
    return is_of_request(tags, request) and steps_marked(tags, request) == 0
