"""The private names of MiniStack this package relies on, and the version that has them."""

import importlib
import importlib.metadata
from collections.abc import Iterator

MINISTACK_VERSION = "1.5.33"
"""The version `emulator/requirements.txt` pins; a test compares the two."""

REQUIRED_NAMES = {
    "ministack.app": (
        "AUTH",
        "SERVICE_HANDLERS",
        "main",
        "pin_request_origin",
    ),
    "ministack.core.iam_actions": (
        "_load_botocore_model",
        "_query_param",
        "extract_resource_arn",
        "identity_denial_message",
        "request_tag_context",
    ),
    "ministack.core.iam_evaluator": (
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
    ),
    "ministack.core.lambda_runtime": (
        "execution_credentials",
        "zipfile",
    ),
    "ministack.core.responses": (
        "AccountRegionScopedDict",
        "get_account_id",
        "get_region",
    ),
    "ministack.core.router": (
        "SERVICE_PATTERNS",
        "extract_access_key_id",
    ),
    "ministack.services.cloudformation.custom_resource": (
        "deliver_response",
        "invoke_custom_resource",
    ),
    "ministack.services.cloudformation": (
        "_exports",
        "_stacks",
    ),
    "ministack.services.cloudformation.changesets": (
        "_error",
        "_evaluate_conditions",
        "_find_change_set",
        "_resolve_parameters",
        "validate_template_support",
    ),
    "ministack.services.cloudformation.engine": (
        "_evaluate_conditions",
        "_select",
    ),
    "ministack.services.cloudformation.handlers": (
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
    ),
    "ministack.services.cloudformation.stacks": (
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
    ),
    "ministack.services.cloudformation.provisioners": (
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
    ),
    "ministack.services.cloudwatch_logs": (
        "_create_log_group",
        "_log_groups",
    ),
    "ministack.services.ec2": (
        "_ACTION_MAP",
        "_DEFAULT_VPC_ID",
        "_addresses",
        "_az_id_for_zone_name",
        "_az_id_prefix",
        "_error",
        "_flow_logs",
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
    ),
    "ministack.services.eks": (
        "_VALID_ACCESS_ENTRY_TYPES",
        "_access_entries",
        "_access_entry_arn",
        "_access_policies",
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
    ),
    "ministack.services.iam": (
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
    ),
    "ministack.services.kms": (
        "_alias_arn",
        "_aliases",
        "_arn",
        "_create_key",
        "_describe_key",
        "_keys",
        "_resolve_key",
    ),
    "ministack.services.lambda_svc": (
        "_GATEWAY_PORT",
        "_functions",
        "acquire_worker",
        "invalidate_worker",
    ),
    "ministack.services.s3": (
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
    ),
    "ministack.services.stepfunctions": ("_start_execution",),
}


def missing_names() -> Iterator[str]:
    """Yield each required name, `module.name`, that the installed MiniStack does not have."""
    for module_name, names in REQUIRED_NAMES.items():
        try:
            module = importlib.import_module(module_name)
        except ModuleNotFoundError:
            yield module_name
            continue
        yield from (f"{module_name}.{name}" for name in names if not hasattr(module, name))


def require_names() -> None:
    """Check that this MiniStack has every private name used.

    Raises:
        SystemExit: one line naming the version expected, the one found and what it lacks.
    """
    missing = sorted(missing_names())
    if missing:
        found = importlib.metadata.version("ministack")
        raise SystemExit(
            f"emulator.aws: needs ministack {MINISTACK_VERSION}, found {found}, which lacks "
            f"{', '.join(missing)}. Reinstall with: pip install -r emulator/requirements.txt"
        )
