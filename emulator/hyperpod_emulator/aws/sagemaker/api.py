"""SageMaker's cluster operations: checked against IAM, S3, EKS and EC2, then forwarded."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from hyperpod_emulator.aws import json_service
from hyperpod_emulator.aws.cloudformation import service_role
from hyperpod_emulator.aws.cloudformation.service_role import SESSION
from hyperpod_emulator.aws.encryption import key_of, key_problem, use_of
from hyperpod_emulator.aws.iam import authorization
from hyperpod_emulator.aws.iam.authorization import Permission
from hyperpod_emulator.aws.json_service import Asked, Content, HyperPodClient, ServiceError
from hyperpod_emulator.aws.ministack import Response, ec2, eks, get_account_id, get_region, s3
from hyperpod_emulator.aws.sagemaker import permissions
from hyperpod_emulator.aws.sagemaker.permissions import (
    HYPERPOD,
    SAGEMAKER,
    eks_cluster_arn,
    execution_roles,
    lifecycle_scripts,
    networks,
    new_cluster_arn,
    volume_keys,
)
from hyperpod_emulator.aws.service_quotas import require_quotas
from hyperpod_emulator.aws.settings import own_settings

Request = Mapping[str, Any]


def _role_problems(request: Request, sent: Mapping[str, str]) -> Iterator[str]:
    trusted = [(role, SAGEMAKER) for role in execution_roles(request)]
    if request.get("ClusterRole"):
        trusted.append((request["ClusterRole"], HYPERPOD))
    for role, service in trusted:
        if not authorization.allows(role_arn=role, service=service, sent=sent):
            yield (
                f"Could not assume role {role}. Please ensure that the role exists and allows "
                f"principal '{service}' to assume the role."
            )


def _script_problems(request: Request) -> Iterator[str]:
    """Look at each lifecycle script as the execution role would, at the time of the call.

    HyperPod itself finds out on the nodes, minutes later; the reasons are the same.
    """
    for script in lifecycle_scripts(request):
        where = f"Instance group {script.group}: lifecycle script s3://{script.bucket}/{script.key}"
        role_name = script.role_arn.rsplit("/", 1)[-1]
        bucket_arn = f"arn:aws:s3:::{script.bucket}"
        for needed in (
            Permission(action="s3:ListBucket", resource=bucket_arn),
            Permission(action="s3:GetObject", resource=f"{bucket_arn}/{script.key}"),
            *_use_of_key(script.bucket, script.key),
        ):
            if not authorization.role_may(role_name=role_name, permission=needed):
                yield (
                    f"{where}: {script.role_arn} is not allowed {needed.action} on "
                    f"{needed.resource}."
                )
        bucket = s3._buckets.get(script.bucket)
        if bucket is None:
            yield f"{where}: the bucket does not exist."
        elif script.key not in bucket["objects"]:
            yield f"{where}: the object does not exist."


def _use_of_key(bucket: str, key: str) -> Iterator[Permission]:
    """Yield what reading an encrypted object takes in addition to the right to read it."""
    kms_key = key_of(bucket, key)
    if kms_key is not None:
        yield use_of(kms_key, bucket=bucket, key=key, action="kms:Decrypt")


def _eks_problems(request: Request) -> Iterator[str]:
    arn = eks_cluster_arn(request)
    if arn is None:
        return
    cluster = eks._clusters.get(arn.rsplit("/", 1)[-1])
    if cluster is None or cluster["arn"] != arn:
        yield f"EKS cluster {arn} does not exist."
        return
    mode = cluster["accessConfig"].get("authenticationMode", "CONFIG_MAP")
    if mode == "CONFIG_MAP":
        yield f"EKS cluster {arn} has authentication mode CONFIG_MAP: use API."
    vpc_id = cluster["resourcesVpcConfig"]["vpcId"]
    yield from _network_problems(request, vpc_id, f"the VPC of EKS cluster {arn}")


def _network_problems(request: Request, vpc_id: str, what: str) -> Iterator[str]:
    for network in networks(request):
        for store, identifiers in (
            (ec2._subnets, network.get("Subnets") or []),
            (ec2._security_groups, network.get("SecurityGroupIds") or []),
        ):
            for identifier in identifiers:
                record = store.get(identifier)
                if record is None:
                    yield f"{identifier} does not exist."
                elif record["VpcId"] != vpc_id:
                    yield f"{identifier} is not in {vpc_id}, {what}."


def _slurm_problems(request: Request) -> Iterator[str]:
    """Look at the network, and at what Slurm's nodes do with their execution roles.

    Without its right on FSx a real node says nothing, and reaches Lustre over TCP:
    https://github.com/awslabs/awsome-distributed-ai/pull/1209. Here it is told.
    """
    if not permissions.has_slurm_nodes(request):
        return
    first = next((ec2._subnets.get(each["Subnets"][0]) for each in networks(request)), None)
    yield from _network_problems(request, (first or {}).get("VpcId", ""), "the cluster's VPC")
    for group, role, needed in permissions.of_slurm_nodes(request):
        if not authorization.role_may(role_name=role.rsplit("/", 1)[-1], permission=needed):
            yield (
                f"Instance group {group}: {role} is not allowed {needed.action} on "
                f"{needed.resource}."
            )


def _key_problems(request: Request) -> Iterator[str]:
    """Look at each volume's key; HyperPod itself may find out when it launches a node."""
    for key in volume_keys(request):
        problem = key_problem(key)
        if problem is not None:
            yield f"KMS key {key} {problem}."


def require_valid(request: Request, *, sent: Mapping[str, str]) -> None:
    """Refuse a CreateCluster or UpdateCluster request by every problem with the rest of this AWS.

    `sent` are the condition keys with which HyperPod says for whom it assumes roles.
    """
    problems = [
        *_role_problems(request, sent),
        *_eks_problems(request),
        *_slurm_problems(request),
        *_key_problems(request),
        *_script_problems(request),
    ]
    if problems:
        raise ServiceError("ValidationException", " ".join(dict.fromkeys(problems)))


_NAMES_A_CLUSTER = "ClusterName"
# Operations that change a cluster, authorized by its tags as well.
_UNDER_TAGS = frozenset(
    {
        "AddTags",
        "BatchAddClusterNodes",
        "BatchDeleteClusterNodes",
        "DeleteCluster",
        "DeleteTags",
        "UpdateCluster",
        "UpdateClusterSoftware",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One request on its way through.

    Attributes:
        role: Name of the role with which CloudFormation makes the call; None for other callers.
    """

    operation: str
    request: Mapping[str, Any]
    body: bytes
    client: HyperPodClient
    role: str | None = None

    def require(self, permissions: Iterable[Permission]) -> None:
        """Check that the caller has each permission."""
        for permission in permissions:
            if self.role is not None:
                authorization.require_role(
                    role_name=self.role, session=SESSION, permission=permission
                )
                continue
            authorization.require_caller(
                headers=self.client.headers,
                action=permission.action,
                resource=permission.resource,
                context=permission.context,
            )

    async def require_operation(self, resource: str) -> None:
        """Check that the caller may call the operation itself, and tag what it creates."""
        action = f"sagemaker:{self.operation}"
        tags = authorization.request_tags(service="sagemaker", action=action, body=self.body)
        if self.operation in _UNDER_TAGS:
            listed = await self.client.call("ListTags", {"ResourceArn": resource}) or {}
            for tag in listed.get("Tags", ()):
                tags[f"aws:ResourceTag/{tag['Key']}"] = tag["Value"]
        actions = [action]
        if self.operation == "CreateCluster" and self.request.get("Tags"):
            actions.append("sagemaker:AddTags")
        self.require(Permission(action=each, resource=resource, context=tags) for each in actions)

    def sent(self, cluster_arn: str) -> dict[str, str]:
        """Return the condition keys that HyperPod sends when it assumes roles for a cluster."""
        if not own_settings().source_account:
            return {}
        return {"aws:SourceAccount": get_account_id(), "aws:SourceArn": cluster_arn}

    async def forward(self) -> Response:
        """Pass the request on."""
        return await self.client.forward(self.operation, self.body)


async def _create(call: _Call) -> Response:
    request = call.request
    arn = new_cluster_arn(region=get_region(), account=get_account_id())
    eks_arn = eks_cluster_arn(request)
    await call.require_operation(arn)
    await require_quotas(request, client=call.client)
    call.require(permissions.to_put(request, operation=call.operation, eks_cluster_arn=eks_arn))
    first = not permissions.has_service_linked_role()
    if first:
        permission = permissions.to_create_service_linked_role(account=get_account_id())
        call.require([permission])
    require_valid(request, sent=call.sent(arn))
    response = await call.forward()
    if response[0] < HTTPStatus.BAD_REQUEST:
        if first:
            permissions.create_service_linked_role()
        _create_entries(call, eks_arn, request[_NAMES_A_CLUSTER])
    return response


def _create_entries(call: _Call, eks_arn: str | None, cluster_name: str) -> None:
    if eks_arn is not None:
        permissions.create_access_entries(
            eks_cluster_arn=eks_arn,
            roles=execution_roles(call.request),
            cluster_name=cluster_name,
        )


async def _update(call: _Call, cluster: Mapping[str, Any]) -> Response:
    arn, eks_arn = cluster["ClusterArn"], eks_cluster_arn(cluster)
    await require_quotas(call.request, client=call.client)
    call.require(
        permissions.to_put(call.request, operation=call.operation, eks_cluster_arn=eks_arn)
    )
    roles = execution_roles(cluster)
    call.require(permissions.to_update(roles, cluster_arn=arn, eks_cluster_arn=eks_arn))
    require_valid(call.request, sent=call.sent(arn))
    response = await call.forward()
    if response[0] < HTTPStatus.BAD_REQUEST:
        _create_entries(call, eks_arn, cluster[_NAMES_A_CLUSTER])
    return response


async def _delete(call: _Call, cluster: Mapping[str, Any]) -> Response:
    eks_arn = eks_cluster_arn(cluster)
    roles = execution_roles(cluster)
    call.require(permissions.to_delete(roles, eks_cluster_arn=eks_arn))
    response = await call.forward()
    if response[0] < HTTPStatus.BAD_REQUEST and eks_arn is not None:
        permissions.delete_access_entries(
            eks_cluster_arn=eks_arn, roles=roles, cluster_name=cluster[_NAMES_A_CLUSTER]
        )
    return response


async def _change_nodes(call: _Call, cluster: Mapping[str, Any]) -> Response:
    eks_arn = eks_cluster_arn(cluster)
    call.require(permissions.to_change_nodes(call.request, eks_cluster_arn=eks_arn))
    return await call.forward()


_ON_A_CLUSTER = {
    "BatchAddClusterNodes": _change_nodes,
    "BatchDeleteClusterNodes": _change_nodes,
    "DeleteCluster": _delete,
    "UpdateCluster": _update,
    "UpdateClusterSoftware": _change_nodes,
}


# Task governance: objects in operations, and their kinds in ARNs.
_GOVERNANCE = {
    "ClusterSchedulerConfig": "cluster-scheduler-config",
    "ComputeQuota": "compute-quota",
}
_NEW_ID = "0" * 12
_GOVERNING = frozenset(f"Create{noun}" for noun in _GOVERNANCE)
_CEASING = {f"{verb}{noun}": noun for verb in ("Delete", "Update") for noun in _GOVERNANCE}


def _resource(operation: str, request: Mapping[str, Any]) -> str:
    """Return what a call that is not about a cluster needs its permission on."""
    here = f"arn:aws:sagemaker:{get_region()}:{get_account_id()}"
    for noun, kind in _GOVERNANCE.items():
        if operation.endswith(noun):
            return f"{here}:{kind}/{request.get(f'{noun}Id', _NEW_ID)}"
    plan = request.get("TrainingPlanName")
    if plan is None:
        return str(request.get("ResourceArn", "*"))
    prefix = f"{here}:training-plan/"
    return prefix + str(plan).removeprefix(prefix)


async def _answer(call: _Call) -> Response:
    if call.operation == "CreateCluster":
        return await _create(call)
    name = call.request.get(_NAMES_A_CLUSTER)
    if name is None:
        await call.require_operation(_resource(call.operation, call.request))
        if call.operation in _GOVERNING:
            governed = {_NAMES_A_CLUSTER: call.request["ClusterArn"]}
            cluster = await call.client.call("DescribeCluster", governed)
            if cluster is not None:
                call.require(permissions.to_govern(cluster, operation=call.operation))
        if call.operation in _CEASING:
            key = f"{_CEASING[call.operation]}Id"
            described = await call.client.call(
                f"Describe{_CEASING[call.operation]}", {key: call.request[key]}
            )
            if described is not None:
                governed = {_NAMES_A_CLUSTER: described["ClusterArn"]}
                cluster = await call.client.call("DescribeCluster", governed)
                call.require(permissions.to_cease_to_govern(cluster or {}))
        return await call.forward()
    # Policies are written for the ARN, which ends in an id only the HyperPod API knows.
    cluster = await call.client.call("DescribeCluster", {_NAMES_A_CLUSTER: name})
    unknown_arn = f"arn:aws:sagemaker:{get_region()}:{get_account_id()}:cluster/{name}"
    await call.require_operation(cluster["ClusterArn"] if cluster else unknown_arn)
    handler = _ON_A_CLUSTER.get(call.operation)
    if handler is None or cluster is None:
        return await call.forward()
    return await handler(call, cluster)


def call(operation: str, request: Mapping[str, Any]) -> dict[str, Any]:
    """Make a call for CloudFormation, with the rights of the stack's role; return the answer."""
    body = json.dumps(request).encode()
    made = _Call(
        operation=operation,
        request=request,
        body=body,
        client=HyperPodClient(),
        role=service_role.current(),
    )
    status, _headers, answered = asyncio.run(_answer(made))
    answer: dict[str, Any] = json.loads(answered or b"{}")
    if status >= HTTPStatus.BAD_REQUEST:
        raise ServiceError(answer["__type"], answer["message"])
    return answer


async def _asked(asked: Asked) -> Content:
    call = _Call(
        operation=asked.operation,
        request=asked.request,
        body=asked.body,
        client=HyperPodClient(headers=asked.headers),
    )
    return await _answer(call)


def install() -> None:
    """Add the service to MiniStack."""
    json_service.register(service="sagemaker", target_prefix="SageMaker.", answer=_asked)
