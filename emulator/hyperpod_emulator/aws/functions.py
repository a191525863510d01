"""Lambda functions as AWS runs them, and the input of executions that call them.

A worker's environment says where each service is. Of a function without internet access, that is
nowhere, but for the services with a VPC endpoint; what the endpoint's policy does not allow is
denied. A function reaches the Kubernetes API from the internet or within the VPC, as the cluster's
endpoint is.

https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html
https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-access.html
https://docs.aws.amazon.com/eks/latest/userguide/cluster-endpoint.html

CDK's provider framework starts its waiter with a custom resource's event: the properties, and on an
update the old ones too. Step Functions limits that input.
"""

import zipfile
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from http import HTTPStatus
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from hyperpod_emulator.aws.archives import Archive
from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties
from hyperpod_emulator.aws.ec2.dns_firewall import resolves
from hyperpod_emulator.aws.ec2.reach import Placement, host_of
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.iam.authorization import Permission
from hyperpod_emulator.aws.ministack import (
    EvalResult,
    Response,
    app,
    eks,
    get_account_id,
    iam_evaluator,
    lambda_runtime,
    lambda_svc,
    provisioners,
    responses,
    s3,
    stepfunctions,
    wrap,
)
from hyperpod_emulator.aws.refused import Refused
from hyperpod_emulator.aws.settings import own_settings

# No one listens there: a privileged port that no service of today has. AWS lets the call wait for a
# connection instead; botocore raises a ConnectionError for both.
_QUICK_ATTEMPTS = 30
_NOWHERE = "127.0.0.1:1"
# https://docs.aws.amazon.com/lambda/latest/dg/configuration-vpc.html#configuration-vpc-permissions
_INTERFACE_ACTIONS = (
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
)
_ENDPOINTS: Mapping[str, str] = {
    "CLOUDFORMATION": "cloudformation",
    "CLOUDWATCH": "monitoring",
    "CLOUDWATCH_LOGS": "logs",
    "DYNAMODB": "dynamodb",
    "EC2": "ec2",
    "ECR": "ecr.api",
    "EKS": "eks",
    "FSX": "fsx",
    "KMS": "kms",
    "LAMBDA": "lambda",
    "S3": "s3",
    "SAGEMAKER": "sagemaker.api",
    "SECRETS_MANAGER": "secretsmanager",
    "SFN": "states",
    "SSM": "ssm",
    "STS": "sts",
}
"""Services that a function may call: how the SDK's variables name each, and its endpoint."""
_OF_ACTIONS = {"sagemaker": "sagemaker.api", "ecr": "ecr.api", "cloudwatch": "monitoring"}
# Reads of the local AWS miss no write that is older.
_READS_AT_ONCE = {"READ_LAG_SECONDS": "3"}
_caller: ContextVar[str] = ContextVar("caller", default="")
# A service that acts for its caller, as HyperPod on EKS, does so outside the caller's VPC.
_is_through_endpoint: ContextVar[bool] = ContextVar("is_through_endpoint", default=False)


def _placement(function_name: str) -> Placement | None:
    """Return where a function's network interfaces are; None outside any VPC."""
    function = lambda_svc._functions.get(function_name) or {"config": {}}
    vpc = function["config"].get("VpcConfig") or {}
    if not vpc.get("SubnetIds"):
        return None
    return Placement(subnets=tuple(vpc["SubnetIds"]), groups=tuple(vpc["SecurityGroupIds"]))


def _environment(function_name: str, *, gateway: str) -> dict[str, str]:
    """Return where the services are for a function, as the SDKs' variables."""
    placement = _placement(function_name)
    if placement is None:
        return {"AWS_ENDPOINT_URL": gateway}
    places = {
        name: gateway if placement.reaches(service) else f"http://{_NOWHERE}/{host_of(service)}"
        for name, service in _ENDPOINTS.items()
    }
    if set(places.values()) == {gateway}:
        return {"AWS_ENDPOINT_URL": gateway}
    return {
        "AWS_ENDPOINT_URL": f"http://{_NOWHERE}",
        **{f"AWS_ENDPOINT_URL_{name}": place for name, place in places.items()},
    }


def _function_of(access_key: str) -> str:
    """Return the function that calls; empty for any other caller."""
    principal = iam_evaluator.resolve_principal(access_key, get_account_id())
    arn = getattr(principal, "arn", "")
    name = arn.rpartition("/")[2] if ":assumed-role/" in arn else ""
    return name if name in lambda_svc._functions else ""


def _denied(function_name: str, *, action: str, resource: str) -> EvalResult | None:
    """Return how the policy of the endpoint denies a call; None if it does not."""
    placement = _placement(function_name)
    if placement is None:
        return None
    prefix = action.partition(":")[0]
    endpoint = placement.endpoint_of(_OF_ACTIONS.get(prefix, prefix))
    if endpoint is None or endpoint["PolicyDocument"] is None:
        return None
    account, bucket = get_account_id(), resource.rpartition(":::")[2].partition("/")[0]
    is_foreign = prefix == "s3" and bucket not in s3._buckets
    owner = {"aws:ResourceAccount": "amazon" if is_foreign else account}
    permission = Permission(action=action, resource=resource, context=owner)
    context = authorization.asked_by_role("function", session=function_name, permission=permission)
    policy = iam_evaluator.parse_policy_document(endpoint["PolicyDocument"])
    decision = iam_evaluator.evaluate(context, [policy])
    return None if decision.decision == "Allow" else decision


def _set_vpc(function_name: str, properties: Properties) -> None:
    """Give a function its VPC settings, which MiniStack's CloudFormation leaves out."""
    vpc = properties.get("VpcConfig") or {}
    config = lambda_svc._functions[function_name]["config"]
    if vpc.get("SubnetIds") and vpc != config.get("VpcConfig"):
        role = config["Role"].rpartition("/")[2]
        for action in _INTERFACE_ACTIONS:
            permission = Permission(action=action, resource="*")
            if not authorization.role_may(role_name=role, permission=permission):
                raise Refused(
                    "InvalidParameterValueException: The provided execution role does not have "
                    f"permissions to call {action.partition(':')[2]} on EC2"
                )
    config["VpcConfig"] = dict(vpc)


def _follow_network() -> None:
    """Start a function's workers anew when what it reaches has changed."""
    started: dict[str, dict[str, str]] = {}

    def with_places(
        credentials: Callable[..., dict[str, str]], config: dict[str, Any]
    ) -> dict[str, str]:
        name = config["FunctionName"]
        started[name] = _environment(name, gateway=_gateway())
        return {**credentials(config), **started[name], **_READS_AT_ONCE}

    def acquire_worker(
        acquire: Callable[..., Any], name: str, *arguments: Any, **options: Any
    ) -> Any:  # noqa: ANN401 - as MiniStack's
        if started.get(name) not in (None, _environment(name, gateway=_gateway())):
            lambda_svc.invalidate_worker(name)
        return acquire(name, *arguments, **options)

    wrap(lambda_runtime, "execution_credentials", with_places)
    wrap(lambda_svc, "acquire_worker", acquire_worker)


def _gateway() -> str:
    return f"http://127.0.0.1:{lambda_svc._GATEWAY_PORT}"


def _enforce_endpoint_policies() -> None:
    def begin(pin: Callable[..., None], *arguments: Any) -> None:
        _is_through_endpoint.set(True)
        pin(*arguments)

    def enforce_both(
        enforce: Callable[..., EvalResult | None],
        access_key: str,
        action: str,
        *arguments: Any,
        **options: Any,
    ) -> EvalResult | None:
        denial = enforce(access_key, action, *arguments, **options)
        is_first = _is_through_endpoint.get()
        _is_through_endpoint.set(False)
        name = _function_of(access_key)
        _caller.set(name)
        if denial is not None or not name or not is_first:
            return denial
        return _denied(name, action=action, resource=options.get("resource_arn", "*"))

    wrap(iam_evaluator, "enforce", enforce_both)
    wrap(app, "pin_request_origin", begin)


def _describe_for_caller(describe: Callable[[str], Response], name: str) -> Response:
    """Say of a Kubernetes API that the asking function cannot connect to that it is nowhere."""
    response = describe(name)
    found, caller = response[0] == HTTPStatus.OK, _caller.get()
    if found and caller and not _is_reachable(name, caller):
        cluster = {**eks._sanitize(eks._clusters[name]), "endpoint": f"https://{_NOWHERE}"}
        return eks._json_resp(HTTPStatus.OK, {"cluster": cluster})
    return response


def _is_reachable(cluster_name: str, function_name: str) -> bool:
    vpc = eks._clusters[cluster_name]["resourcesVpcConfig"]
    placement = _placement(function_name)
    # The name of the Kubernetes API has the same suffix.
    if placement is not None and not resolves(placement.vpc_id, host_of("eks")):
        return False
    if placement is not None and placement.vpc_id == vpc["vpcId"] and vpc["endpointPrivateAccess"]:
        return True
    # From an address that no one knows beforehand.
    open_to_all = "0.0.0.0/0" in (vpc.get("publicAccessCidrs") or ["0.0.0.0/0"])
    is_outside = placement is None or placement.has_internet_access
    return bool(vpc["endpointPublicAccess"] and open_to_all and is_outside)


def install() -> None:
    """Put functions where their VPC settings say; after the other additions to EKS.

    Their workers' archives are unpacked with permissions, from one copy an archive, which may
    outlive the local AWS in a directory; without one, each is unpacked each time.
    """
    Archive.directory = Path(own_settings().archives) if own_settings().archives else None
    lambda_runtime.zipfile = SimpleNamespace(**{**vars(zipfile), "ZipFile": Archive})
    handlers = provisioners._RESOURCE_HANDLERS["AWS::Lambda::Function"]
    wrap(handlers, "create", _create)
    wrap(handlers, "update", _update)
    wrap(stepfunctions, "_start_execution", _start_execution)
    wrap(stepfunctions, "_find_matching_retrier", _slower_in_the_end)
    wrap(eks, "_describe_cluster", _describe_for_caller)
    _follow_network()
    _enforce_endpoint_policies()


def _create(
    create: Callable[..., Created], logical_id: str, properties: Properties, stack: str
) -> Created:
    created = create(logical_id, properties, stack)
    try:
        _set_vpc(created[0], properties)
    except Refused:
        provisioners._RESOURCE_HANDLERS["AWS::Lambda::Function"]["delete"](created[0], properties)
        raise
    return created


def _update(update: Callable[..., Created], *change: Any, **options: str) -> Created:
    updated = update(*change, **options)
    _set_vpc(updated[0], change[2])
    return updated


# In bytes of UTF-8: https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
MOST_INPUT_BYTES = 262_144


def _slower_in_the_end(
    find: Callable[..., tuple[dict[str, Any] | None, int]],
    retriers: list[dict[str, Any]],
    error: str,
    attempts: Mapping[int, int],
) -> tuple[dict[str, Any] | None, int]:
    """Have an hour of attempts outlast what is not scaled: the minutes that a read may lag."""
    retrier, index = find(retriers, error, attempts)
    if retrier is not None and attempts.get(index, 0) >= _QUICK_ATTEMPTS:
        retrier = {**retrier, "IntervalSeconds": 2 * retrier.get("IntervalSeconds", 1)}
    return retrier, index


def _start_execution(unchecked: Callable[..., Response], data: dict[str, Any]) -> Response:
    """Refuse a larger input, in the words of AWS's validation."""
    if len(data.get("input", "").encode()) > MOST_INPUT_BYTES:
        return responses.error_response_json(
            "ValidationException",
            "1 validation error detected: Value at 'input' failed to satisfy constraint: "
            f"Member must have length less than or equal to {MOST_INPUT_BYTES}",
            HTTPStatus.BAD_REQUEST,
        )
    return unchecked(data)
