"""Reviews: questions a caller asks about themselves, answered and never stored."""

from collections.abc import Callable
from dataclasses import dataclass

from rehearsal.kubernetes.authentication import Principal, may
from rehearsal.kubernetes.errors import Object


def _who(principal: Principal, _: Object) -> Object:
    return {"userInfo": {"username": principal.username, "groups": list(principal.groups)}}


def _access(principal: Principal, spec: Object) -> Object:
    attributes = spec.get("resourceAttributes")
    if attributes is None:
        return {"allowed": principal.allowed}
    verb, resource = attributes.get("verb", ""), attributes.get("resource", "")
    return {"allowed": may(principal, verb=verb, resource=resource)}


@dataclass(frozen=True, slots=True)
class Review:
    """One kind of review.

    Attributes:
        api_version: Its group and version.
        plural: Its resource.
        kind: Its kind.
        answer: Makes the status from the caller and the `spec`.
    """

    api_version: str
    plural: str
    kind: str
    answer: Callable[[Principal, Object], Object]


REVIEWS = (
    Review("authentication.k8s.io/v1", "selfsubjectreviews", "SelfSubjectReview", _who),
    Review(
        "authorization.k8s.io/v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", _access
    ),
)


def review_at(*, group: str, version: str, plural: str) -> Review | None:
    """Return the review at a URL, or None."""
    wanted = (f"{group}/{version}", plural)
    return next((item for item in REVIEWS if (item.api_version, item.plural) == wanted), None)


def reviewed(review: Review, *, principal: Principal, body: Object) -> Object:
    """Return the answered review."""
    spec = body.get("spec") or {}
    return {
        "apiVersion": review.api_version,
        "kind": review.kind,
        "metadata": {},
        "spec": spec,
        "status": review.answer(principal, spec),
    }
