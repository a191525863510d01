"""Everything of MiniStack that this package uses: no other module imports it.

Most of it is private, for MiniStack's public surface has no way to add a CloudFormation resource
type or a service. A test finds what of the names in use another version of MiniStack lacks.

What to offer upstream, for the most names to become public, or unnecessary:

- A registry of CloudFormation resource types (handlers, where tags go, whether they block), and of
  services: `provisioners`, `app`, `router`.
- Hooks around what CloudFormation does with a resource (create, update, replace, delete, roll
  back) and around its events: `stacks`; express mode, service roles and replacements are these.
- A registry of a service's actions, with its responses in XML and JSON: `ec2`, `eks`, `iam`,
  `handlers`.
- A hook before a request is authorized, and the evaluation of policies for a role: `iam_evaluator`.
- As corrections: exports in use, conditions with `Fn::Select`, failed deletions and rollbacks of
  stacks, encryption of buckets, images that are not there, zones of subnets, refusals of dependent
  networks, EKS add-ons, access entries, versions and deletion protection.
"""

from collections.abc import Callable, MutableMapping
from functools import partial
from typing import Any, TypeAlias

from ministack import app
from ministack.core import iam_actions, iam_evaluator, lambda_runtime, responses, router, sigv4
from ministack.services import (
    cloudformation,
    cloudwatch_logs,
    dynamodb,
    ec2,
    ecr,
    eks,
    eventbridge,
    iam,
    kms,
    lambda_svc,
    rds,
    resource_groups,
    s3,
    secretsmanager,
    sns,
    ssm,
    stepfunctions,
)
from ministack.services.cloudformation import (
    changesets,
    custom_resource,
    engine,
    handlers,
    provisioners,
    stacks,
)

__all__ = [
    "EvalContext",
    "EvalResult",
    "Query",
    "Response",
    "app",
    "changesets",
    "cloudformation",
    "cloudwatch_logs",
    "custom_resource",
    "dynamodb",
    "ec2",
    "ecr",
    "eks",
    "engine",
    "eventbridge",
    "get_account_id",
    "get_region",
    "handlers",
    "iam",
    "iam_actions",
    "iam_evaluator",
    "kms",
    "lambda_runtime",
    "lambda_svc",
    "provisioners",
    "rds",
    "resource_groups",
    "responses",
    "router",
    "s3",
    "secretsmanager",
    "sigv4",
    "sns",
    "ssm",
    "stacks",
    "stepfunctions",
    "wrap",
]

Query: TypeAlias = dict[str, list[str]]
"""The parameters of a request to EC2."""
Response: TypeAlias = tuple[int, dict[str, str], bytes]
"""What a service answers: status, headers and body."""

# Types of `iam_evaluator`; MiniStack has none.
EvalContext: TypeAlias = Any
EvalResult: TypeAlias = Any


def wrap(owner: Any, name: str, function: Callable[..., Any]) -> None:  # noqa: ANN401 - MiniStack has no types
    """Put a function in another's place, in a module or a table; it gets the other first."""
    if isinstance(owner, MutableMapping):
        owner[name] = partial(function, owner[name])
    else:
        setattr(owner, name, partial(function, getattr(owner, name)))


def get_account_id() -> str:
    """Return the account of the request being served."""
    return str(responses.get_account_id())


def get_region() -> str:
    """Return the region of the request being served."""
    return str(responses.get_region())
