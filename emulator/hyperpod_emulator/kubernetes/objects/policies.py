"""ValidatingAdmissionPolicies: what a cluster's own rules in CEL refuse."""

from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from hyperpod_emulator.kubernetes.objects.errors import ApiError, Object, qualified
from hyperpod_emulator.kubernetes.objects.resources import ApiResource, ResourceCatalog
from hyperpod_emulator.kubernetes.objects.store import ResourcePath, Store

_GROUP, _VERSION = "admissionregistration.k8s.io", "v1"
_POLICIES, _BINDINGS = "validatingadmissionpolicies", "validatingadmissionpolicybindings"


class May(Protocol):
    """What a caller may do."""

    def __call__(self, *, verb: str, group: str, resource: str, namespace: str) -> bool:
        """Say whether it may use a verb on a resource of a namespace, empty for none."""
        ...


def _everything(*, verb: str, group: str, resource: str, namespace: str) -> bool:  # noqa: ARG001
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who writes: the control plane itself, unless another is set."""

    username: str = "system:apiserver"
    may: May = field(default=_everything)


CALLER: ContextVar[Caller] = ContextVar("caller", default=Caller())  # noqa: B039 - frozen
"""The caller of the request that is served."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policies:
    """The policies of a cluster that a binding puts into force.

    https://kubernetes.io/docs/reference/access-authn-authz/validating-admission-policy/
    """

    store: Store
    catalog: ResourceCatalog

    def refuse(
        self,
        item: Object | None,
        *,
        before: Object | None,
        target: ResourcePath,
        operation: str,
        subresource: str,
    ) -> None:
        """Refuse what makes an expression of a policy false, or fail (422)."""
        request = {
            "namespace": target.namespace,
            "name": target.name,
            "operation": operation,
            "userInfo": {"username": CALLER.get().username},
        }
        known = {"object": item, "oldObject": before, "request": request, **_AUTHORIZER}
        for binding in self._of(_BINDINGS):
            for policy in self._of(_POLICIES):
                if (
                    policy["metadata"]["name"] == binding["spec"]["policyName"]
                    and "Deny" in binding["spec"]["validationActions"]
                    and _is_about(policy, target.resource, operation, subresource)
                ):
                    for message in _broken(policy["spec"], known):
                        raise _denied(message, policy=policy, binding=binding, target=target)

    def _of(self, plural: str) -> list[Object]:
        resource = self.catalog.by_path(group=_GROUP, version=_VERSION, plural=plural)
        return [] if resource is None else self.store.listed(resource)


def _is_about(policy: Object, resource: ApiResource, operation: str, subresource: str) -> bool:
    name = f"{resource.plural}/{subresource}" if subresource else resource.plural
    return any(
        any(fnmatchcase(resource.group, pattern) for pattern in rule["apiGroups"])
        and {operation, "*"} & set(rule["operations"])
        and any(fnmatchcase(name, pattern) for pattern in rule["resources"])
        for rule in policy["spec"]["matchConstraints"]["resourceRules"]
    )


# The calls of CEL's authorizer that a policy makes, each on what the one before has returned.
# https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library
_AUTHORIZER: dict[str, Any] = {
    "authorizer": {"group": "", "resource": "", "namespace": "", "verb": ""},
    "group": lambda asked, group: {**asked, "group": group},
    "resource": lambda asked, resource: {**asked, "resource": resource},
    "check": lambda asked, verb: {**asked, "verb": verb},
    "allowed": lambda asked: CALLER.get().may(**asked),
}


def _broken(spec: Object, known: dict[str, Any]) -> Iterator[str]:
    """Yield the message of each expression that an object does not meet."""
    # Takes a third of a second, and most clusters have no policy.
    import cel  # noqa: PLC0415

    if not all(
        cel.evaluate(each["expression"], known) for each in spec.get("matchConditions") or ()
    ):
        return
    variables: dict[str, Any] = {}
    for each in spec.get("variables") or ():
        variables[each["name"]] = cel.evaluate(
            each["expression"], {**known, "variables": variables}
        )
    for each in spec["validations"]:
        if cel.evaluate(each["expression"], {**known, "variables": variables}) is not True:
            yield each["message"]


def _denied(message: str, *, policy: Object, binding: Object, target: ResourcePath) -> ApiError:
    resource = qualified(plural=target.resource.plural, group=target.resource.group)
    return ApiError(
        422,
        "Invalid",
        f'{resource} "{target.name}" is forbidden: ValidatingAdmissionPolicy '
        f"'{policy['metadata']['name']}' with binding '{binding['metadata']['name']}' denied "
        f"request: {message}",
    )
