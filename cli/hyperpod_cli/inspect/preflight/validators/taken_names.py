"""Whether the names of what is made are free."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, KeyPath, error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.deployed import is_deployed
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, Validate, validator
from hyperpod_cli.operate.clusters import stack_of
from hyperpod_shared.aws_errors import code
from hyperpod_stacks.table import stack_name


@validator(
    phase=Phase.FORMER_DEPLOYMENTS,
    iam=[
        "cloudformation:ListStackResources",
        "eks:DescribeCluster",
        "iam:GetRole",
        "kms:DescribeKey",
        "logs:DescribeLogGroups",
        "s3:ListBucket",
        "sagemaker:DescribeCluster",
        "sagemaker:ListTags",
    ],
)
def taken_names(config: Config, target: Target) -> Problems:
    """A HyperPod cluster, a bucket, a role, an EKS cluster or its log group has the name already.

    CloudFormation finds a name of another owner when it comes to the resource, and rolls back; it
    takes no existing EKS cluster for the deployment's own. The HyperPod cluster comes last, when
    all else is billed.

    Keys: cluster.execution_role_name, cluster.name, eks.cluster_name,
    lifecycle_scripts.bucket_name, name

    [CloudFormation](https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-resource-import.html)
    """
    refused: ClientError | None = None
    for find in _finders(config, target):
        try:
            yield from find(config, target)
        except ClientError as error:  # What may not be looked at does not hide the others.
            refused = refused or error
    if refused is not None:
        raise refused


def _finders(config: Config, target: Target) -> Iterator[Validate]:
    if config.cluster.exists:
        yield _hyperpod_cluster
    if is_deployed(config, "platform", target):
        return
    if config.makes_control_plane:
        yield _control_plane
    if config.encryption.create_kms_key:
        yield _key
    yield _role
    if config.cluster.exists and config.lifecycle_scripts.existing_bucket_name is None:
        yield _bucket


def _hyperpod_cluster(config: Config, target: Target) -> Problems:
    name, sagemaker = config.cluster.name, target.client("sagemaker")
    cluster = answer_of(sagemaker.describe_cluster, ClusterName=name)
    if cluster is None:
        return
    stack = stack_of(sagemaker, arn=cluster["ClusterArn"])
    # What a stack of this name left behind, it takes again.
    if stack != stack_name(config, "hyperpod"):
        message = (
            f"is taken by a HyperPod cluster of {f'the stack {stack}' if stack else 'no stack'}; "
            "take another name, or delete that cluster first"
        )
        command = f"aws sagemaker describe-cluster --cluster-name {name}"
        yield error(("cluster", "name"), name, message), command


def _control_plane(config: Config, target: Target) -> Problems:
    """Find an EKS cluster, and the log group that EKS makes again after a deletion.

    https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2446
    """
    path, cluster = ("eks", "cluster_name"), config.eks_cluster_name
    if answer_of(target.client("eks").describe_cluster, name=cluster) is not None:
        command = f"aws eks describe-cluster --name {cluster}"
        yield _taken(path, cluster, instead="or name that cluster in eks.cluster_arn"), command
    name = f"/aws/eks/{cluster}/cluster"
    answer = target.client("logs").describe_log_groups(logGroupNamePrefix=name)
    if name in [each["logGroupName"] for each in answer.get("logGroups", ())]:
        message = (
            f"leads to the log group {name}, which is there, and CloudFormation takes none over; "
            f"delete it (`aws logs delete-log-group --log-group-name {name}`), or take another name"
        )
        command = f"aws logs describe-log-groups --log-group-name-prefix {name}"
        yield error(path, cluster, message), command


def _key(config: Config, target: Target) -> Problems:
    alias = f"alias/{config.name}"
    answer = answer_of(target.client("kms").describe_key, "NotFoundException", KeyId=alias)
    if answer is not None:
        instead = "or name that key in encryption.kms_key_arn"
        taken = _taken(("name",), config.name, instead=instead)
        yield taken, f"aws kms describe-key --key-id {alias}"


def _role(config: Config, target: Target) -> Problems:
    role = config.cluster.execution_role_name
    if role is None:
        return
    answer = answer_of(target.client("iam").get_role, "NoSuchEntity", RoleName=role)
    if answer is not None:
        instead = "or name that role in cluster.execution_role_arn"
        taken = _taken(("cluster", "execution_role_name"), role, instead=instead)
        yield taken, f"aws iam get-role --role-name {role}"


def _bucket(config: Config, target: Target) -> Problems:
    # It stays where files of a user's are in it.
    default = f"sagemaker-{config.name}-{target.account}-{target.region}"
    bucket = config.lifecycle_scripts.bucket_name or default
    if _is_bucket(bucket, target):
        instead = "or name it in lifecycle_scripts.existing_bucket_name, if it is yours"
        taken = _taken(("lifecycle_scripts", "bucket_name"), bucket, instead=instead)
        yield taken, f"aws s3api head-bucket --bucket {bucket}"


def _is_bucket(name: str, target: Target) -> bool:
    try:
        return answer_of(target.client("s3").head_bucket, "404", Bucket=name) is not None
    except ClientError as refused:
        # One elsewhere. 403 says either that it is another account's or that the caller may not
        # look: https://docs.aws.amazon.com/AmazonS3/latest/API/API_HeadBucket.html
        if code(refused) not in {"301", "400"}:
            raise
        return True


def _taken(path: KeyPath, name: str, *, instead: str) -> Finding:
    message = f"is taken by what the deployment did not make; take another name, {instead}"
    return error(path, name, message)
