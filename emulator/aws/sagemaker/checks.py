"""What HyperPod finds wrong with a cluster request by looking at IAM, S3, EKS and EC2."""

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.aws import kms_keys, s3_encryption
from emulator.aws.iam import authorization
from emulator.aws.iam.authorization import Permission
from emulator.aws.json_service import ServiceError
from emulator.aws.ministack import ec2, eks, s3
from emulator.aws.sagemaker import cluster_request
from emulator.aws.sagemaker.permissions import HYPERPOD, SAGEMAKER

Request = Mapping[str, Any]


def _role_problems(request: Request, sent: Mapping[str, str]) -> Iterator[str]:
    trusted = [(role, SAGEMAKER) for role in cluster_request.execution_roles(request)]
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
    for script in cluster_request.lifecycle_scripts(request):
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
        bucket = s3.buckets.get(script.bucket)
        if bucket is None:
            yield f"{where}: the bucket does not exist."
        elif script.key not in bucket["objects"]:
            yield f"{where}: the object does not exist."


def _use_of_key(bucket: str, key: str) -> Iterator[Permission]:
    """Yield what reading an encrypted object takes besides the right to read it."""
    kms_key = s3_encryption.key_of(bucket, key)
    if kms_key is not None:
        yield s3_encryption.use_of(kms_key, bucket=bucket, key=key, action="kms:Decrypt")


def _eks_problems(request: Request) -> Iterator[str]:
    arn = cluster_request.eks_cluster_arn(request)
    if arn is None:
        return
    cluster = eks.clusters.get(arn.rsplit("/", 1)[-1])
    if cluster is None or cluster["arn"] != arn:
        yield f"EKS cluster {arn} does not exist."
        return
    mode = cluster["accessConfig"].get("authenticationMode", "CONFIG_MAP")
    if mode == "CONFIG_MAP":
        yield f"EKS cluster {arn} has authentication mode CONFIG_MAP: use API."
    vpc_id = cluster["resourcesVpcConfig"]["vpcId"]
    for network in cluster_request.networks(request):
        for store, identifiers in (
            (ec2.subnets, network.get("Subnets") or []),
            (ec2.security_groups, network.get("SecurityGroupIds") or []),
        ):
            for identifier in identifiers:
                record = store.get(identifier)
                if record is None:
                    yield f"{identifier} does not exist."
                elif record["VpcId"] != vpc_id:
                    yield f"{identifier} is not in {vpc_id}, the VPC of EKS cluster {arn}."


def _key_problems(request: Request) -> Iterator[str]:
    """Look at each volume's key; HyperPod itself may find out when it launches a node."""
    for key in cluster_request.volume_keys(request):
        problem = kms_keys.problem(key)
        if problem is not None:
            yield f"KMS key {key} {problem}."


def require_valid(request: Request, *, sent: Mapping[str, str]) -> None:
    """Check a CreateCluster or UpdateCluster request against the rest of this AWS.

    Args:
        request: The operation's input.
        sent: The condition keys with which HyperPod says for whom it assumes roles.

    Raises:
        ServiceError: ValidationException with every problem.
    """
    problems = [
        *_role_problems(request, sent),
        *_eks_problems(request),
        *_key_problems(request),
        *_script_problems(request),
    ]
    if problems:
        raise ServiceError("ValidationException", " ".join(dict.fromkeys(problems)))
