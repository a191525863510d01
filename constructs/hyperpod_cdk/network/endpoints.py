"""The VPC endpoints of a closed network."""

from collections.abc import Iterator, Sequence

from aws_cdk import Aws
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from hyperpod_cdk.network.endpoint_services import EndpointService

_HTTPS = ec2.Port.tcp(443)


class VpcEndpoints(Construct):
    """VPC endpoints through which a network without internet access reaches AWS services.

    One endpoint for each service: most are interface endpoints, with private DNS, in the given
    subnets. Their security group lets HTTPS in from the groups that use them alone. The policies
    let through what principals of this account ask of the services. S3, whose gateway endpoint is
    there already, serves buckets of this account and reads the data buckets, and those of AWS that
    hold the layers of ECR's images and the packages of SSM Agent. With `full_access`, the policies
    let everything through.

    Args:
        vpc: The VPC.
        subnets: Where the endpoints are: private ones, at most one in each Availability Zone.
        routed_subnets: Those that reach gateway endpoints: all in which something runs.
        services: The services.
        s3_endpoint: S3's gateway endpoint.
        security_group_ids: Groups of what uses the endpoints.
        data_buckets: Names of buckets, perhaps of other accounts, that roles behind the endpoints
            read. Default: none.
        full_access: Whether the policies let everything through. Default: false.

    Attributes:
        endpoints: All of them, S3's included; what calls AWS from the VPC waits for these.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        routed_subnets: Sequence[ec2.ISubnet],
        services: Sequence[EndpointService],
        s3_endpoint: ec2.GatewayVpcEndpoint,
        security_group_ids: Sequence[str],
        data_buckets: Sequence[str] = (),
        full_access: bool = False,
    ) -> None:
        super().__init__(scope, construct_id)
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=vpc,
            description="VPC endpoints of AWS services",
            allow_all_outbound=False,
        )
        for security_group_id in dict.fromkeys(security_group_ids):
            group.add_ingress_rule(
                ec2.Peer.security_group_id(security_group_id), _HTTPS, "Calls of AWS services"
            )
        for statement in [_everything()] if full_access else _s3_statements(data_buckets):
            s3_endpoint.add_to_policy(statement)
        self.endpoints: list[Construct] = [s3_endpoint]
        for service in services:
            # EcrApi of ecr.api
            name = "".join(part.title() for part in service.name.replace("-", ".").split("."))
            endpoint: ec2.GatewayVpcEndpoint | ec2.InterfaceVpcEndpoint
            if service.is_gateway:
                endpoint = ec2.GatewayVpcEndpoint(
                    self,
                    name,
                    vpc=vpc,
                    service=ec2.GatewayVpcEndpointAwsService(service.name),
                    subnets=[ec2.SubnetSelection(subnets=list(routed_subnets))],
                )
            else:
                endpoint = ec2.InterfaceVpcEndpoint(
                    self,
                    name,
                    vpc=vpc,
                    service=ec2.InterfaceVpcEndpointAwsService(service.name),
                    subnets=ec2.SubnetSelection(subnets=list(subnets)),
                    security_groups=[group],
                    private_dns_enabled=True,
                    # The default would allow the VPC's primary CIDR block, without any nodes.
                    open=False,
                )
            is_limited = service.is_by_principals and not full_access
            endpoint.add_to_policy(_of_this_account(service) if is_limited else _everything())
            self.endpoints.append(endpoint)


def _everything() -> iam.PolicyStatement:
    # Written out: AWS does not say that an update without a policy takes the former one away.
    return iam.PolicyStatement(principals=[iam.AnyPrincipal()], actions=["*"], resources=["*"])


def _of_this_account(service: EndpointService) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=list(service.actions),
        resources=["*"],
        conditions={
            "StringEquals": {
                "aws:PrincipalAccount": Aws.ACCOUNT_ID,
                **({"aws:ResourceAccount": Aws.ACCOUNT_ID} if service.is_gateway else {}),
            }
        },
    )


def _s3_statements(data_buckets: Sequence[str]) -> Iterator[iam.PolicyStatement]:
    if data_buckets:
        yield iam.PolicyStatement(
            sid="DataBuckets",
            principals=[iam.AnyPrincipal()],
            actions=["s3:GetObject", "s3:ListBucket"],
            resources=[
                arn
                for name in sorted({*data_buckets})
                for arn in (f"arn:{Aws.PARTITION}:s3:::{name}", _objects(name))
            ],
            conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
        )
    yield iam.PolicyStatement(
        sid="BucketsOfThisAccount",
        principals=[iam.AnyPrincipal()],
        actions=["s3:*"],
        resources=["*"],
        conditions={
            "StringEquals": {
                "aws:PrincipalAccount": Aws.ACCOUNT_ID,
                "aws:ResourceAccount": Aws.ACCOUNT_ID,
            }
        },
    )
    yield iam.PolicyStatement(
        # By URLs that ECR signs:
        # https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html
        sid="ImageLayers",
        principals=[iam.AnyPrincipal()],
        actions=["s3:GetObject"],
        resources=[_objects(f"prod-{Aws.REGION}-starport-layer-bucket")],
    )
    yield iam.PolicyStatement(
        # https://docs.aws.amazon.com/systems-manager/latest/userguide/ssm-agent-technical-details.html
        sid="SsmAgent",
        principals=[iam.AnyPrincipal()],
        actions=["s3:GetObject"],
        resources=[
            _objects(f"amazon-ssm-{Aws.REGION}"),
            _objects(f"amazon-ssm-packages-{Aws.REGION}"),
        ],
    )


def _objects(bucket: str) -> str:
    return f"arn:{Aws.PARTITION}:s3:::{bucket}/*"
