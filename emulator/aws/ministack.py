"""Everything of MiniStack that this package uses: no other module imports it.

Most of it is private, for MiniStack's public surface has no way to add a CloudFormation resource
type or a service. Here each private name has a public one, without its underscore; to read it, to
replace it, and to find at start that this version of MiniStack has it.

What to offer upstream, for the most names to become public, or unnecessary:

- A registry of CloudFormation resource types (handlers, where tags go, whether they block), and of
  services: `provisioners`, `app`, `router`.
- Hooks around what CloudFormation does with a resource (create, update, replace, delete, roll
  back) and around its events: `stacks`; express mode, service roles and replacements are these.
- A registry of a service's actions, with its responses in XML and JSON: `ec2`, `eks`, `iam`,
  `handlers`.
- A hook before a request is authorized, and the evaluation of policies for a role: `iam_evaluator`.
- As corrections: exports in use, conditions with `Fn::Select`, failed deletions and rollbacks of
  stacks, encryption of buckets, zones of subnets, refusals of dependent networks, EKS add-ons,
  access entries, versions and deletion protection.
"""

import importlib
import importlib.metadata
from collections.abc import Iterator
from typing import Any, TypeAlias

MINISTACK_VERSION = "1.5.33"
"""The version `emulator/requirements.txt` pins; a test compares the two."""


class _Module:
    """A module of MiniStack, imported when it is first used; it has the names listed alone."""

    def __init__(self, module: str, *names: str) -> None:
        vars(self).update(_module=module, _names={name.lstrip("_"): name for name in names})

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - MiniStack has no types
        return getattr(importlib.import_module(self._module), self._private(name))

    def __setattr__(self, name: str, value: object) -> None:
        setattr(importlib.import_module(self._module), self._private(name), value)

    def missing(self) -> Iterator[str]:
        """Yield each name, `module.name`, that the installed MiniStack does not have."""
        try:
            module = importlib.import_module(self._module)
        except ModuleNotFoundError:
            yield self._module
            return
        for name in self._names.values():
            if not hasattr(module, name):
                yield f"{self._module}.{name}"

    def _private(self, name: str) -> str:
        try:
            names: dict[str, str] = self._names
            return names[name]
        except KeyError:
            raise AttributeError(f"{self._module}: {name} is not listed here") from None


app = _Module(
    "ministack.app",
    "AUTH",
    "SERVICE_HANDLERS",
    "main",
    "pin_request_origin",
)
iam_actions = _Module(
    "ministack.core.iam_actions",
    "_load_botocore_model",
    "_query_param",
    "extract_resource_arn",
    "identity_denial_message",
    "request_tag_context",
)
iam_evaluator = _Module(
    "ministack.core.iam_evaluator",
    "AuthError",
    "EvalContext",
    "_action_matches",
    "_conditions_met",
    "_gather_role_policies",
    "_permissions_boundary",
    "_resolve_condition_key",
    "_resource_matches",
    "_resource_policy",
    "_service_principal_matches",
    "_verified_key",
    "caller_arn",
    "combine_resource_policy",
    "enforce",
    "evaluate",
    "evaluate_resource_policy",
    "evaluate_trust_policy",
    "parse_policy_document",
    "request_caller_arn",
    "resolve_principal",
)
lambda_runtime = _Module(
    "ministack.core.lambda_runtime",
    "execution_credentials",
    "zipfile",
)
responses = _Module(
    "ministack.core.responses",
    "AccountRegionScopedDict",
    "error_response_json",
    "get_account_id",
    "get_region",
    "now_iso",
)
router = _Module(
    "ministack.core.router",
    "SERVICE_PATTERNS",
    "extract_access_key_id",
)
custom_resource = _Module(
    "ministack.services.cloudformation.custom_resource",
    "deliver_response",
    "invoke_custom_resource",
)
cloudformation = _Module(
    "ministack.services.cloudformation",
    "_exports",
    "_stacks",
)
changesets = _Module(
    "ministack.services.cloudformation.changesets",
    "_error",
    "_evaluate_conditions",
    "_find_change_set",
    "_resolve_parameters",
    "validate_template_support",
)
engine = _Module(
    "ministack.services.cloudformation.engine",
    "_evaluate_conditions",
    "_select",
)
handlers = _Module(
    "ministack.services.cloudformation.handlers",
    "_ACTION_HANDLERS",
    "_continue_update_rollback_async",
    "_delete_stack",
    "_delete_stack_async",
    "_error",
    "_evaluate_conditions",
    "_imported_export_names",
    "_p",
    "_resolve_parameters",
    "_resolve_stack",
    "_xml",
    "validate_template_support",
)
stacks = _Module(
    "ministack.services.cloudformation.stacks",
    "_add_event",
    "_custom_named_replacement_error",
    "_delete_resource",
    "_delete_stack_async",
    "_evaluate_conditions",
    "_property_recreation",
    "_provision_resource",
    "_replacing_change",
    "_resolve_stack_outputs",
    "_roll_back_operation",
    "_runs_on_worker_thread",
    "_update_resource",
    "_with_dependencies",
)
provisioners = _Module(
    "ministack.services.cloudformation.provisioners",
    "_RESOURCE_HANDLERS",
    "_RETAIN_REPLACED",
    "_STACK_TAG_PROPERTY",
    "_cfn_bool",
    "_custom_named_replacement_error",
    "_delete_resource",
    "_ec2_apply_tags",
    "_ec2_sg_permissions",
    "_ec2_subnet_create",
    "_eks_cluster_fields",
    "_pascal_to_camel",
    "_property_recreation",
    "_provision_resource",
    "_replace_resource",
    "_replacing_change",
    "_tag_map",
    "_update_resource",
)
cloudwatch_logs = _Module(
    "ministack.services.cloudwatch_logs",
    "_create_log_group",
    "_log_groups",
)
ec2 = _Module(
    "ministack.services.ec2",
    "_ACTION_MAP",
    "_DEFAULT_VPC_ID",
    "_addresses",
    "_az_id_for_zone_name",
    "_az_id_prefix",
    "_error",
    "_internet_gateways",
    "_nat_gateways",
    "_network_interfaces",
    "_new_igw_id",
    "_new_sg_id",
    "_new_subnet_id",
    "_new_vpc_id",
    "_parse_filters",
    "_parse_member_list",
    "_route_tables",
    "_rules_match",
    "_security_groups",
    "_sg_rule_id",
    "_subnets",
    "_tags",
    "_vpc_endpoints",
    "_vpc_fields_xml",
    "_vpce_fields_xml",
    "_vpcs",
    "_xml",
    "_zone_name_for_az_id",
)
eks = _Module(
    "ministack.services.eks",
    "_VALID_ACCESS_ENTRY_TYPES",
    "_access_entries",
    "_access_entry_arn",
    "_addons",
    "_ae_key",
    "_associate_access_policy",
    "_clusters",
    "_create_access_entry",
    "_create_addon",
    "_create_cluster",
    "_create_pod_identity_association",
    "_delete_access_entry",
    "_delete_addon",
    "_delete_cluster",
    "_delete_pod_identity_association",
    "_describe_addon",
    "_describe_cluster",
    "_disassociate_access_policy",
    "_docker_available",
    "_error",
    "_handle_request_sync",
    "_issuer_url",
    "_json_resp",
    "_new_oidc_id",
    "_sanitize",
    "_tags",
    "_update_access_entry",
    "_update_addon",
    "_update_pod_identity_association",
)
iam = _Module(
    "ministack.services.iam",
    "_AWS_MANAGED_POLICY_PREFIX",
    "_IAM_HANDLERS",
    "_aws_managed_policies",
    "_create_role",
    "_error",
    "_make_aws_managed_record",
    "_p",
    "_policies",
    "_roles",
    "_xml",
)
kms = _Module(
    "ministack.services.kms",
    "_alias_arn",
    "_aliases",
    "_arn",
    "_create_key",
    "_describe_key",
    "_keys",
    "_resolve_key",
)
lambda_svc = _Module(
    "ministack.services.lambda_svc",
    "_GATEWAY_PORT",
    "_functions",
    "acquire_worker",
    "invalidate_worker",
)
s3 = _Module(
    "ministack.services.s3",
    "S3_NS",
    "_bucket_default_sse_headers",
    "_bucket_encryption",
    "_bucket_policies",
    "_buckets",
    "_delete_bucket_encryption",
    "_error",
    "_get_object",
    "_put_bucket_encryption",
    "_put_object",
    "_resolve_sse_write_headers",
)
stepfunctions = _Module(
    "ministack.services.stepfunctions",
    "_start_execution",
)

# Types of `iam_evaluator`; MiniStack has none.
EvalContext: TypeAlias = Any
EvalResult: TypeAlias = Any


def get_account_id() -> str:
    """Return the account of the request being served."""
    return str(responses.get_account_id())


def get_region() -> str:
    """Return the region of the request being served."""
    return str(responses.get_region())


def missing_names() -> list[str]:
    """Return each name listed here, `module.name`, that the installed MiniStack does not have."""
    modules = [each for each in globals().values() if isinstance(each, _Module)]
    return sorted(name for module in modules for name in module.missing())


def require_names() -> None:
    """Check that this MiniStack has every name used.

    Raises:
        SystemExit: one line naming the version expected, the one found and what it lacks.
    """
    missing = missing_names()
    if missing:
        found = importlib.metadata.version("ministack")
        raise SystemExit(
            f"emulator.aws: needs ministack {MINISTACK_VERSION}, found {found}, which lacks "
            f"{', '.join(missing)}. Reinstall with: pip install -r emulator/requirements.txt"
        )
