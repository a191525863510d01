"""Everything of MiniStack that this package uses: no other module imports it.

Most of it is private, for MiniStack's public surface has no way to add a CloudFormation resource
type or a service. Here each private name goes without its underscore, to read it and to replace
it. A test finds what of these names another version of MiniStack lacks.

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

import importlib
import importlib.metadata
import re
from collections.abc import Callable, MutableMapping
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

_REQUIREMENTS = Path(__file__).parents[1] / "requirements.txt"
[MINISTACK_VERSION] = re.findall(r"^ministack==(\S+)", _REQUIREMENTS.read_text("utf-8"), re.M)
"""The version that `emulator/requirements.txt` pins."""

Query: TypeAlias = dict[str, list[str]]
"""The parameters of a request to EC2."""
Response: TypeAlias = tuple[int, dict[str, str], bytes]
"""What a service answers: status, headers and body."""


class _Module:
    """A module of MiniStack, imported when it is first used.

    `public` are names that are meant as they are, though there is a private one, too.
    """

    # What services answer with.
    describe_addon: Callable[..., Response]
    describe_key: Callable[..., Response]
    describe_nodegroup: Callable[..., Response]
    error: Callable[..., Response]
    error_response_json: Callable[..., Response]
    json_resp: Callable[..., Response]
    xml: Callable[..., Response]

    def __init__(self, module: str, *, public: tuple[str, ...] = ()) -> None:
        vars(self).update(_module=module, _public=public)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - MiniStack has no types
        return getattr(importlib.import_module(self._module), self._own(name))

    def __setattr__(self, name: str, value: object) -> None:
        setattr(importlib.import_module(self._module), self._own(name), value)

    def _own(self, name: str) -> str:
        module = importlib.import_module(self._module)
        for form in (name,) if name in self._public else (f"_{name}", name):
            if hasattr(module, form):
                return form
        raise AttributeError(f"{self._module} has no {name}")


app = _Module("ministack.app")
iam_actions = _Module("ministack.core.iam_actions")
iam_evaluator = _Module("ministack.core.iam_evaluator", public=("request_caller_arn",))
lambda_runtime = _Module("ministack.core.lambda_runtime")
responses = _Module("ministack.core.responses")
router = _Module("ministack.core.router")
custom_resource = _Module("ministack.services.cloudformation.custom_resource")
cloudformation = _Module("ministack.services.cloudformation")
changesets = _Module("ministack.services.cloudformation.changesets")
engine = _Module("ministack.services.cloudformation.engine")
handlers = _Module("ministack.services.cloudformation.handlers")
stacks = _Module("ministack.services.cloudformation.stacks")
provisioners = _Module("ministack.services.cloudformation.provisioners")
cloudwatch_logs = _Module("ministack.services.cloudwatch_logs")
ec2 = _Module("ministack.services.ec2")
ecr = _Module("ministack.services.ecr")
eks = _Module("ministack.services.eks")
eventbridge = _Module("ministack.services.eventbridge")
iam = _Module("ministack.services.iam")
kms = _Module("ministack.services.kms")
lambda_svc = _Module("ministack.services.lambda_svc")
rds = _Module("ministack.services.rds")
resource_groups = _Module("ministack.services.resource_groups")
s3 = _Module("ministack.services.s3")
secretsmanager = _Module("ministack.services.secretsmanager")
sns = _Module("ministack.services.sns")
ssm = _Module("ministack.services.ssm")
stepfunctions = _Module("ministack.services.stepfunctions")

# Types of `iam_evaluator`; MiniStack has none.
EvalContext: TypeAlias = Any
EvalResult: TypeAlias = Any


def wrap(owner: Any, name: str, function: Callable[..., Any]) -> None:  # noqa: ANN401 - see _Module
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


def require_version() -> None:
    """Exit unless the installed MiniStack is the one whose private names are used here."""
    found = importlib.metadata.version("ministack")
    if found != MINISTACK_VERSION:
        raise SystemExit(
            f"hyperpod_emulator.aws: needs ministack {MINISTACK_VERSION}, found {found}. "
            "Reinstall with: pip install -r emulator/requirements.txt"
        )
