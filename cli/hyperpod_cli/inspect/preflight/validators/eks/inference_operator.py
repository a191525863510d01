"""The inference operator's roles and load balancers fit a cluster and a VPC that exist."""

from hyperpod_cdk import Config
from hyperpod_cdk.network.endpoint_services import S3_SERVICE
from hyperpod_cdk.schema.errors import warning
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.existing_network import existing_vpc
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_AUDIENCE = "sts.amazonaws.com"
_PATH = ("eks", "oidc_provider_arn")
# Of public subnets, and of private ones.
# https://docs.aws.amazon.com/eks/latest/userguide/alb-ingress.html
_ROLES = ("kubernetes.io/role/elb", "kubernetes.io/role/internal-elb")
_ZONES = 2


@validator(
    phase=Phase.EXISTING_RESOURCES,
    iam=[
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
        "eks:DescribeCluster",
        "iam:GetOpenIDConnectProvider",
    ],
)
def inference_operator(config: Config, target: Target) -> Problems:
    """The OIDC provider is not the cluster's (w); the VPC lacks subnets or an S3 endpoint (w).

    Keys: eks.oidc_provider_arn, network.vpc_id

    [HyperPod](https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html)
    """
    if not config.operators.inference_operator:
        return
    if config.eks.oidc_provider_arn is not None:
        yield from _provider(config, target, arn=config.eks.oidc_provider_arn)
    yield from _network(config, target)


def _provider(config: Config, target: Target, *, arn: str) -> Problems:
    """Find a provider that IAM does not have, or that knows another issuer or another audience.

    CloudFormation does not notice: it takes an add-on whose pods get no role as created.
    https://docs.aws.amazon.com/eks/latest/userguide/enable-iam-roles-for-service-accounts.html
    """
    name = config.eks_cluster_name
    answer = answer_of(target.client("eks").describe_cluster, name=name)
    if answer is None:
        return  # another validator's
    issuer = answer["cluster"]["identity"]["oidc"]["issuer"]
    partition, host = arn.split(":")[1], issuer.partition("//")[2]
    wanted = f"arn:{partition}:iam::{target.account}:oidc-provider/{host}"
    command = f"aws iam get-open-id-connect-provider --open-id-connect-provider-arn {arn}"
    if arn != wanted:
        command = f"aws eks describe-cluster --name {name} --query cluster.identity.oidc.issuer"
        message = f"is not that of {name}, so its pods get no role; write {wanted}"
    else:
        iam = target.client("iam")
        provider = answer_of(
            iam.get_open_id_connect_provider, "NoSuchEntity", OpenIDConnectProviderArn=arn
        )
        if provider is None:
            message = (
                "does not exist, so pods get no role; run `aws iam create-open-id-connect-provider "
                f"--url {issuer} --client-id-list {_AUDIENCE}`"
            )
        elif _AUDIENCE not in provider.get("ClientIDList", ()):
            message = (
                f"lacks the audience {_AUDIENCE}, so pods get no role; run `aws iam "
                f"add-client-id-to-open-id-connect-provider --open-id-connect-provider-arn {arn} "
                f"--client-id {_AUDIENCE}`"
            )
        else:
            return
    yield warning(_PATH, arn, message), command


def _network(config: Config, target: Target) -> Problems:
    vpc = existing_vpc(config, target)
    if vpc is None:
        return
    path, value = ("network", "vpc_id"), vpc.id
    zones: dict[str, set[str]] = {role: set() for role in _ROLES}
    for subnet in vpc.members("subnet").values():
        for tag in subnet.get("Tags", ()):
            if tag["Key"] in zones:
                zones[tag["Key"]].add(subnet["AvailabilityZoneId"])
    counts = (len(config.network.public_subnet_cidrs), len(config.network.new_hyperpod_cidrs))
    if all(max(len(zones[role]), new) < _ZONES for role, new in zip(_ROLES, counts, strict=True)):
        message = (
            f"has no subnets with the tag {_ROLES[0]} in two zones, nor with {_ROLES[1]}: the load "
            "balancer of an endpoint finds none; run `aws ec2 create-tags --resources SUBNET "
            f"--tags Key={_ROLES[1]},Value=1` for two private ones"
        )
        yield warning(path, value, message), vpc.show("subnet")
    if S3_SERVICE not in vpc.endpoint_services():
        message = (
            "has no VPC endpoint of S3, by which a SageMaker endpoint gets the certificate of a "
            "load balancer; add a gateway endpoint to the route tables of its subnets"
        )
        command = f"aws ec2 describe-vpc-endpoints --filters Name=vpc-id,Values={vpc.id}"
        yield warning(path, value, message), command
