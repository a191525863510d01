"""CloudFormation calls AWS with the rights of the role that a stack is given.

A stack without one would be changed with the rights of its caller: here, of the account's root.
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-iam-servicerole.html
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws.cloudformation.handler_permissions import Handled, Made, Properties
from hyperpod_emulator.aws.cloudformation.resource_type import Created
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.iam.authorization import AccessDeniedError, Permission
from hyperpod_emulator.aws.ministack import (
    Response,
    app,
    changesets,
    get_account_id,
    get_region,
    handlers,
    iam_evaluator,
    provisioners,
    stacks,
)
from hyperpod_emulator.aws.refused import Refused

_CURRENT: ContextVar[str | None] = ContextVar("role_of_handler", default=None)

# One that AWS draws, such as that of a subnet or a key.
_ID = re.compile(r"(?:[a-z]+-)+[0-9a-f]+|[0-9a-f-]{36}")
_SERVICE = "cloudformation.amazonaws.com"
SESSION = "AWSCloudFormation"
"""Name of CloudFormation's session with a role."""
_OPERATIONS = ("CreateStack", "UpdateStack", "DeleteStack", "CreateChangeSet")
_FROM_SYSTEMS_MANAGER = "AWS::SSM::Parameter::Value<"


def current() -> str | None:
    """Return the name of the role with which a handler is called; None without one."""
    return _CURRENT.get()


def install() -> None:
    """Authorize each operation on a stack, and each handler it calls."""
    if app.AUTH:
        _ServiceRoles().install()


class _ServiceRoles:
    """The role of each stack, and MiniStack's functions that act for it."""

    def __init__(self) -> None:
        self._provision: Callable[..., Created] = stacks._provision_resource
        self._update: Callable[..., Created] = stacks._update_resource
        self._delete: Callable[..., None] = stacks._delete_resource
        self._resolve: Callable[..., dict[str, Any]] = handlers._resolve_parameters
        # By account, region and stack: the name of the role, which a stack keeps.
        self._roles: dict[tuple[str, str, str], str] = {}
        # By ID, of which AWS draws no two alike.
        self._made: dict[str, Made] = {}
        # What a role was allowed, as long as its rights are the same: handlers ask the same often.
        self._allowed: dict[str, tuple[object, set[str]]] = {}
        # The role with which the request's operation runs.
        self._role: ContextVar[str | None] = ContextVar("service_role", default=None)

    def install(self) -> None:
        """Take the places of MiniStack's functions."""
        stacks._provision_resource = self._provisioned
        stacks._update_resource = self._updated
        stacks._delete_resource = self._deleted
        handlers._resolve_parameters = changesets._resolve_parameters = self._resolved
        for name in _OPERATIONS:
            handlers._ACTION_HANDLERS[name] = self._with_role(handlers._ACTION_HANDLERS[name])

    def _with_role(self, handler: Callable[[Any], Response]) -> Callable[[Any], Response]:
        def handle(params: Any) -> Response:  # noqa: ANN401 - the query parameters
            stack = handlers._p(params, "StackName")
            key = (get_account_id(), get_region(), _stack_name(stack))
            role_arn = handlers._p(params, "RoleARN")
            if role_arn:
                problem = _refusal(role_arn)
                if problem is not None:
                    return handlers._error(*problem, HTTPStatus.FORBIDDEN)
                self._roles[key] = role_arn.rsplit("/", 1)[-1]
            token = self._role.set(self._roles.get(key))
            try:
                return handler(params)
            finally:
                self._role.reset(token)

        return handle

    def _resolved(self, template: Mapping[str, Any], *rest: Any) -> dict[str, Any]:
        role = self._role.get()
        for parameter in template.get("Parameters", {}).values():
            if role is not None and str(parameter.get("Type")).startswith(_FROM_SYSTEMS_MANAGER):
                name = str(parameter["Default"]).lstrip("/")
                arn = f"arn:aws:ssm:{get_region()}:{get_account_id()}:parameter/{name}"
                self._require(role, Permission(action="ssm:GetParameters", resource=arn))
        return self._resolve(template, *rest)

    def _provisioned(
        self, resource_type: str, logical_id: str, properties: Properties, stack: str
    ) -> Created:
        handled = self._handled(resource_type, stack, logical_id, properties)
        self._authorize("create", handled)
        with self._as_role(stack):
            return self._noted(
                handled, self._provision(resource_type, logical_id, properties, stack)
            )

    def _updated(  # noqa: PLR0917 - MiniStack's signature
        self,
        resource_type: str,
        physical_id: str,
        old: Properties,
        new: Properties,
        stack: str,
        logical_id: str,
        *rest: Any,
    ) -> Created:
        handled = self._handled(resource_type, stack, logical_id, new, former=old)
        if old != new:
            replacing = provisioners._replacing_change(resource_type, old, new)
            self._authorize("create" if replacing else "update", handled)
        with self._as_role(stack):
            return self._noted(
                handled,
                self._update(resource_type, physical_id, old, new, stack, logical_id, *rest),
            )

    def _deleted(
        self,
        resource_type: str,
        physical_id: str,
        properties: Properties,
        stack: str,
        logical_id: str,
    ) -> None:
        handled = self._handled(resource_type, stack, logical_id, properties)
        self._authorize("delete", handled)
        with self._as_role(stack):
            self._delete(resource_type, physical_id, properties, stack, logical_id)

    def _handled(
        self,
        resource_type: str,
        stack: str,
        logical_id: str,
        properties: Properties,
        *,
        former: Properties | None = None,
    ) -> Handled:
        return Handled(
            type=resource_type,
            stack=stack,
            logical_id=logical_id,
            properties=properties,
            former=former or {},
            region=get_region(),
            account=get_account_id(),
            made=self._made.get,
        )

    def _noted(self, handled: Handled, created: Created) -> Created:
        """Note whose the IDs of a resource are, and return it."""
        physical_id, attributes = created
        made = Made(type=handled.type, tags=handled.tags, properties=handled.properties)
        ids = (each for each in (physical_id, *attributes.values()) if isinstance(each, str))
        for each in filter(_ID.fullmatch, ids):
            # An attribute may be the ID of what another resource is, such as a subnet's VPC.
            if each == physical_id or each not in self._made:
                self._made[each] = made
        return created

    def _authorize(self, operation: str, handled: Handled) -> None:
        role = self._role_of(handled.stack)
        if role is None:
            return
        for permission in handled.permissions(operation, trusted=authorization.services):
            self._require(role, permission)

    def _role_of(self, stack: str) -> str | None:
        return self._roles.get((get_account_id(), get_region(), stack))

    @contextmanager
    def _as_role(self, stack: str) -> Iterator[None]:
        token = _CURRENT.set(self._role_of(stack))
        try:
            yield
        finally:
            _CURRENT.reset(token)

    def _require(self, role: str, permission: Permission) -> None:
        rights = authorization.rights(role)
        known, allowed = self._allowed.get(role, (None, set()))
        if known != rights:
            allowed = set()
            self._allowed[role] = (rights, allowed)
        if str(permission) in allowed:
            return
        try:
            authorization.require_role(role_name=role, session=SESSION, permission=permission)
        except AccessDeniedError as error:
            raise Refused(str(error)) from error
        allowed.add(str(permission))


def _stack_name(name_or_id: str) -> str:
    stack = handlers._resolve_stack(name_or_id)
    return str(name_or_id if stack is None else stack["StackName"])


def _refusal(role_arn: str) -> tuple[str, str] | None:
    """Return code and message of the error for a role that CloudFormation cannot use."""
    if not authorization.allows(role_arn=role_arn, service=_SERVICE, sent={}):
        return "ValidationError", f"Role {role_arn} is invalid or cannot be assumed"
    denial = iam_evaluator.enforce(
        iam_evaluator._verified_key.get(),  # none of the root user's
        "iam:PassRole",
        "iam",
        get_region(),
        resource_arn=role_arn,
        service_context={"iam:PassedToService": _SERVICE},
    )
    if denial is None:
        return None
    # https://repost.aws/knowledge-center/cloudformation-iam-passrole-error
    return "AccessDenied", (
        f"User: {iam_evaluator.caller_arn()} is not authorized to perform: iam:PassRole on "
        f"resource: {role_arn}"
    )
