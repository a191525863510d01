"""Who calls, and what the access policies of EKS allow.

What EKS's access policies allow, as rules of Kubernetes.

`access_policies.json` has the tables of
https://docs.aws.amazon.com/eks/latest/userguide/access-policy-permissions.html, without the API
group `extensions`, which Kubernetes no longer serves. AmazonSagemakerHyperpodTrainingPolicy is in
words only, at https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-studio-setup-eks.html.

Who a caller is, what that lets them do, and the reviews by which they ask.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from emulator.kubernetes.objects.errors import ApiError, Object, qualified
from emulator.kubernetes.objects.resources import Resource

_ANY = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Verbs on resources of an API group; `*` is any.

    Attributes:
        group: API group; empty for the core group.
        resources: Plural names, or with a subresource: `pods/log`.
        verbs: Kubernetes verbs.
    """

    group: str
    resources: Sequence[str]
    verbs: Sequence[str]

    def allows(self, *, verb: str, group: str, resource: str) -> bool:
        """Whether the rule allows a verb on a resource, which may have a subresource."""
        return (
            self.group in (_ANY, group)
            and (_ANY in self.resources or resource in self.resources)
            and (_ANY in self.verbs or verb in self.verbs)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """An access policy, and where it holds.

    Attributes:
        policy: Its name; one without rules here allows nothing.
        namespaces: Namespaces, or patterns of them; none for the whole cluster.
    """

    policy: str
    namespaces: Sequence[str] = ()

    def allows(self, *, verb: str, group: str, resource: str, namespace: str) -> bool:
        """Whether it allows a verb on a resource in a namespace, empty for none."""
        return self._holds_in(namespace) and any(
            rule.allows(verb=verb, group=group, resource=resource)
            for rule in _policies().get(self.policy, ())
        )

    def _holds_in(self, namespace: str) -> bool:
        return not self.namespaces or any(
            namespace and fnmatchcase(namespace, pattern) for pattern in self.namespaces
        )


@cache
def _policies() -> Mapping[str, Sequence[Rule]]:
    tables = json.loads(
        Path(__file__).with_name("access_policies.json").read_text(encoding="utf-8")
    )
    return {name: tuple(Rule(**rule) for rule in rules) for name, rules in tables.items()}


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated caller.

    Attributes:
        username: Name that refusals show.
        groups: Kubernetes groups.
        allowed: Whether the caller may do everything, as a cluster administrator.
        grants: What a caller who is not allowed everything may still do.
        of_aws: Whether it is AWS itself, which injected faults do not hit.
    """

    username: str
    groups: tuple[str, ...] = ("system:authenticated",)
    allowed: bool = False
    grants: tuple[Grant, ...] = ()
    of_aws: bool = False


# Returns the principal of a bearer token; None when the token is not valid.
Authenticate = Callable[[str], Awaitable[Principal | None]]


def static_tokens(principals: Mapping[str, Principal]) -> Authenticate:
    """Return an authenticator that knows a fixed set of tokens.

    Args:
        principals: The principal of each token.
    """

    async def authenticate(token: str) -> Principal | None:
        return principals.get(token)

    return authenticate


def may(principal: Principal, *, verb: str, group: str, resource: str, namespace: str) -> bool:
    """Whether a principal may act on a resource.

    Args:
        principal: The caller.
        verb: Kubernetes verb, such as `list`.
        group: API group of the resource; empty for the core group.
        resource: Plural name of the resource, and of its part: `pods/log`.
        namespace: Where; empty for all namespaces, or for what lives in none.
    """
    return principal.allowed or any(
        grant.allows(verb=verb, group=group, resource=resource, namespace=namespace)
        for grant in principal.grants
    )


def forbidden(
    principal: Principal, *, verb: str, resource: Resource, namespace: str, name: str
) -> ApiError:
    """Return the refusal of an act on a resource, in the API server's words."""
    plural = qualified(plural=resource.plural, group=resource.group)
    subject = f'{plural} "{name}"' if name else plural
    scope = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    message = (
        f'{subject} is forbidden: User "{principal.username}" cannot {verb} resource '
        f'"{resource.plural}" in API group "{resource.group}" {scope}'
    )
    details = {"name": name, "group": resource.group, "kind": resource.plural}
    return ApiError(403, "Forbidden", message, details)


def _who(principal: Principal, _: Object) -> Object:
    return {"userInfo": {"username": principal.username, "groups": list(principal.groups)}}


def _access(principal: Principal, spec: Object) -> Object:
    attributes = spec.get("resourceAttributes")
    if attributes is None:
        return {"allowed": principal.allowed}
    resource, part = attributes.get("resource", ""), attributes.get("subresource", "")
    allowed = may(
        principal,
        verb=attributes.get("verb", ""),
        group=attributes.get("group", ""),
        resource=f"{resource}/{part}" if part else resource,
        namespace=attributes.get("namespace", ""),
    )
    return {"allowed": allowed}


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
