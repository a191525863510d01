"""What the HyperPod inference operator needs of AWS: roles, and a bucket for certificates.

The names are those of version 1 of its add-on, which brings a load balancer controller and KEDA
along, each with a service account of its own. Version 2 adds a gateway, which lets in whoever
reaches it unless each gateway says otherwise, and takes one more role.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-inference-gateway.html
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import Aws, Fn, RemovalPolicy, Stack
from aws_cdk import aws_eks_v2 as eks
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from hyperpod_cdk.eks.pod_identity import PodRole
from hyperpod_cdk.eks.service_account_role import ServiceAccountRole, TokenIssuer
from hyperpod_cdk.hyperpod.node_permissions import (
    data_bucket_acknowledgments,
    data_bucket_statements,
)
from hyperpod_cdk.hyperpod.section import DataBucketConfig
from hyperpod_cdk.synthesis.logs import access_log_bucket
from hyperpod_cdk.synthesis.reasons import (
    NIST,
    acknowledge,
    acknowledge_inline_policies,
    managed_policy_nag_id,
    skip_checkov,
    statement,
    wildcard_nag_id,
)

_NAMESPACE = "hyperpod-inference-system"
_POLICY = "AmazonSageMakerHyperPodInferenceAccess"
_SWITCH = "`operators.inference_operator`"
_MODELS_SWITCH = "`operators.s3_csi_driver`"
# The load balancer controller's tag of what it makes.
_OWN = "elbv2.k8s.aws/cluster"


@dataclass(frozen=True, kw_only=True, slots=True)
class InferenceSetup:
    """What a deployment gives the inference operator.

    Attributes:
        issuer: Who signs the tokens of the cluster's service accounts.
        hyperpod_cluster_arn: ARN of the HyperPod cluster.
        vpc_id: The VPC, in which load balancers are made.
        name: Name of the deployment, of which that of the bucket is made.
        access_log_days: When access logs of the bucket expire. Default: after 90 days.
    """

    issuer: TokenIssuer
    hyperpod_cluster_arn: str
    vpc_id: str
    name: str
    access_log_days: int | None = None


class InferenceAccess(Construct):
    """The roles of the inference operator, and the bucket of its endpoints' certificates.

    The bucket is retained: endpoints outlive the operator, and requests are captured there if they
    ask for it.

    Args:
        setup: What the deployment gives.

    Attributes:
        configuration: The values of the add-on.
    """

    def __init__(self, scope: Construct, construct_id: str, *, setup: InferenceSetup) -> None:
        super().__init__(scope, construct_id)
        self._setup = setup
        execution = self._role(
            "Operator",
            service_account="hyperpod-inference-controller-manager",
            description="Serves models of a HyperPod cluster",
            services=["sagemaker.amazonaws.com"],
        )
        execution.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name(_POLICY))
        reason = "AWS documents this managed policy as the inference operator's, and keeps it."
        acknowledge(execution, {managed_policy_nag_id(_POLICY): reason})
        passing = statement(
            self,
            sid="PassOwnRole",
            why=(
                "The operator gives HyperPod its own role; AWS's policy lets it pass only roles "
                "whose names begin with SageMakerHyperPodInference."
            ),
            added_by=_SWITCH,
            actions=["iam:PassRole"],
            resources=[execution.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        )
        self._grant("OperatorPolicy", role=execution, statements=[passing])
        balancers = self._role(
            "LoadBalancers",
            service_account="aws-load-balancer-controller",
            description="Makes the load balancers of endpoints",
        )
        self._grant(
            "LoadBalancersPolicy",
            role=balancers,
            statements=[*_load_balancer_statements(self, vpc_id=setup.vpc_id)],
        )
        scaling = self._role(
            "Keda", service_account="keda-operator", description="Scales endpoints by metrics"
        )
        self._grant("KedaPolicy", role=scaling, statements=[*_keda_statements(self)])
        self.configuration: Mapping[str, Any] = {
            "executionRoleArn": execution.role_arn,
            "tlsCertificateS3Bucket": self._bucket().bucket_name,
            "hyperpodClusterArn": setup.hyperpod_cluster_arn,
            "alb": {
                "enabled": True,
                "serviceAccount": {"create": True, "roleArn": balancers.role_arn},
            },
            "keda": {
                "enabled": True,
                "auth": {"aws": {"irsa": {"enabled": True, "roleArn": scaling.role_arn}}},
            },
        }

    def _role(
        self,
        construct_id: str,
        *,
        service_account: str,
        description: str,
        services: Sequence[str] = (),
    ) -> iam.Role:
        return ServiceAccountRole(
            self,
            construct_id,
            issuer=self._setup.issuer,
            namespace=_NAMESPACE,
            service_account=service_account,
            description=description,
            services=services,
        ).role

    def _grant(
        self, construct_id: str, *, role: iam.Role, statements: Sequence[iam.PolicyStatement]
    ) -> None:
        policy = iam.Policy(self, construct_id, roles=[role], statements=statements)
        acknowledge_inline_policies(policy)
        reason = (
            "AWS takes no resource for it, or names it only when it is made; a tag of the "
            "controller's or the VPC limits what it changes."
        )
        wildcards = {arn for each in statements for arn in each.resources if "*" in arn}
        acknowledge(policy, {wildcard_nag_id(self, arn): reason for arn in sorted(wildcards)})

    def _bucket(self) -> s3.Bucket:
        # AWS's policy names buckets that begin so. One that was kept of a former stack keeps its
        # name, and the stack's ID tells the two apart.
        unique = Fn.select(0, Fn.split("-", Fn.select(2, Fn.split("/", Aws.STACK_ID))))
        bucket = s3.Bucket(
            self,
            "Certificates",
            bucket_name=f"hyperpod-tls-{self._setup.name}-{Aws.ACCOUNT_ID}-{unique}",
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            versioned=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            server_access_logs_bucket=access_log_bucket(
                self, "AccessLogs", expire_after_days=self._setup.access_log_days
            ),
            server_access_logs_prefix="certificates/",
            removal_policy=RemovalPolicy.RETAIN,
        )
        acknowledge(
            bucket,
            {
                f"{NIST}S3DefaultEncryptionKMS": (
                    "Certificates are public; a key would have to be shared with SageMaker "
                    "endpoints, which read them."
                )
            },
        )
        acknowledge(
            self,
            {
                f"{NIST}S3BucketReplicationEnabled": (
                    "The operator writes certificates again, and access logs expire; a copy would "
                    "only cost."
                )
            },
        )
        return bucket


class ClusterArnParameter(Construct):
    """A parameter of Systems Manager with the HyperPod cluster's ARN, for a stack that follows.

    Not an export: while one is in use, CloudFormation refuses to change it, and so to replace the
    cluster, whose ARN is then another.

    Args:
        name: Name of the parameter.
        cluster_arn: The ARN.
    """

    def __init__(self, scope: Construct, construct_id: str, *, name: str, cluster_arn: str) -> None:
        super().__init__(scope, construct_id)
        ssm.StringParameter(
            self,
            "Parameter",
            parameter_name=name,
            string_value=cluster_arn,
            description="ARN of the HyperPod cluster, for the stack of the operators",
        )
        skip_checkov(
            self,
            resource_type="AWS::SSM::Parameter",
            reasons={"CKV2_AWS_34": "It holds an ARN, which is no secret."},
        )

    @staticmethod
    def value(scope: Construct, *, name: str) -> str:
        """Return the ARN, as it is whenever the stack of `scope` is deployed."""
        return ssm.StringParameter.value_for_string_parameter(scope, name)


class ModelsRole(Construct):
    """The role of the CSI driver of Mountpoint for Amazon S3, by EKS Pod Identity; it only reads.

    https://github.com/awslabs/mountpoint-s3-csi-driver/blob/main/docs/CONFIGURATION.md

    Args:
        cluster: The EKS cluster.
        data_buckets: What pods mount. Default: nothing but the models of SageMaker JumpStart.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        cluster: eks.ICluster,
        data_buckets: Sequence[DataBucketConfig] = (),
    ) -> None:
        super().__init__(scope, construct_id)
        role = PodRole(
            self,
            "Driver",
            cluster=cluster,
            namespace="kube-system",
            service_account="s3-csi-driver-sa",
            description="Reads models that pods mount from S3",
        ).role
        # https://docs.aws.amazon.com/sagemaker/latest/dg/jumpstart-foundation-models-use-python-sdk.html
        jumpstart = f"arn:{Aws.PARTITION}:s3:::jumpstart-cache-prod-{Stack.of(self).region}"
        models = f"{jumpstart}/*"
        policy = iam.Policy(
            self,
            "Policy",
            roles=[role],
            statements=[
                statement(
                    self,
                    sid="FindModels",
                    why="It finds the models of SageMaker JumpStart, in a bucket of AWS.",
                    added_by=_MODELS_SWITCH,
                    actions=["s3:ListBucket"],
                    resources=[jumpstart],
                ),
                statement(
                    self,
                    sid="ReadModels",
                    why="It reads the models of SageMaker JumpStart, in a bucket of AWS.",
                    added_by=_MODELS_SWITCH,
                    actions=["s3:GetObject"],
                    resources=[models],
                ),
                *data_bucket_statements(self, data_buckets),
            ],
        )
        acknowledge_inline_policies(policy)
        acknowledge(
            policy,
            {
                wildcard_nag_id(self, models): "Models that AWS publishes; read only.",
                **data_bucket_acknowledgments(self, data_buckets),
            },
        )


def _keda_statements(scope: Construct) -> Iterator[iam.PolicyStatement]:
    workspaces = Stack.of(scope).format_arn(service="aps", resource="workspace", resource_name="*")
    yield statement(
        scope,
        sid="ReadMetrics",
        why="KEDA scales an endpoint by metrics of CloudWatch.",
        added_by=_SWITCH,
        actions=[
            "cloudwatch:GetMetricData",
            "cloudwatch:GetMetricStatistics",
            "cloudwatch:ListMetrics",
        ],
        resources=["*"],
    )
    yield statement(
        scope,
        sid="QueryPrometheus",
        why="KEDA scales an endpoint by metrics of a workspace of Prometheus, which it names.",
        added_by=_SWITCH,
        actions=[
            "aps:GetLabels",
            "aps:GetMetricMetadata",
            "aps:GetSeries",
            "aps:QueryMetrics",
        ],
        resources=[workspaces],
    )


def _load_balancer_statements(scope: Construct, *, vpc_id: str) -> Iterator[iam.PolicyStatement]:
    """Yield what the load balancer controller may do.

    As the controller documents it for version 2.13, without rights to change AWS WAF, AWS Shield
    and Amazon Cognito, which no endpoint asks it for, and in the deployment's VPC alone.
    https://kubernetes-sigs.github.io/aws-load-balancer-controller/v2.13/deploy/installation/
    """

    def arns(service: str, *resources: str) -> list[str]:
        # Those of a load balancer, a target group and a listener end in what AWS draws.
        region, account = Stack.of(scope).region, Aws.ACCOUNT_ID
        place = f"arn:{Aws.PARTITION}:{service}:{region}:{account}"
        return [f"{place}:{resource}" for resource in resources]

    groups = arns("ec2", "security-group/*")
    (vpc,) = arns("ec2", f"vpc/{vpc_id}")
    in_vpc = {"ArnEquals": {"ec2:Vpc": vpc}}
    kinds = ("app", "net")
    balancers = arns("elasticloadbalancing", *(f"loadbalancer/{kind}/*/*" for kind in kinds))
    targets = arns("elasticloadbalancing", "targetgroup/*/*")
    listeners = arns(
        "elasticloadbalancing",
        *(f"listener/{kind}/*/*/*" for kind in kinds),
        *(f"listener-rule/{kind}/*/*/*/*" for kind in kinds),
    )
    made, making = f"aws:ResourceTag/{_OWN}", f"aws:RequestTag/{_OWN}"
    own = {"Null": {made: "false"}}
    retagged = {"Null": {making: "true", made: "false"}}

    def allow(
        sid: str,
        why: str,
        actions: Sequence[str],
        resources: Sequence[str],
        conditions: Mapping[str, Any] | None = None,
    ) -> iam.PolicyStatement:
        return statement(
            scope,
            sid=sid,
            why=why,
            added_by=_SWITCH,
            actions=actions,
            resources=resources,
            conditions=conditions,
        )

    def elb(*names: str) -> list[str]:
        return [f"elasticloadbalancing:{name}" for name in names]

    yield allow(
        "CreateServiceLinkedRole",
        "The first load balancer of an account makes Elastic Load Balancing's role.",
        ["iam:CreateServiceLinkedRole"],
        [
            f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/aws-service-role/"
            "elasticloadbalancing.amazonaws.com/AWSServiceRoleForElasticLoadBalancing"
        ],
        {"StringEquals": {"iam:AWSServiceName": "elasticloadbalancing.amazonaws.com"}},
    )
    yield allow(
        "LookForLoadBalancers",
        "The controller of load balancers looks at the network, at certificates, and at what "
        "protects load balancers.",
        [
            "acm:DescribeCertificate",
            "acm:ListCertificates",
            "ec2:DescribeAccountAttributes",
            "ec2:DescribeAddresses",
            "ec2:DescribeAvailabilityZones",
            "ec2:DescribeInstances",
            "ec2:DescribeInternetGateways",
            "ec2:DescribeNetworkInterfaces",
            "ec2:DescribeRouteTables",
            "ec2:DescribeSecurityGroups",
            "ec2:DescribeSubnets",
            "ec2:DescribeTags",
            "ec2:DescribeVpcPeeringConnections",
            "ec2:DescribeVpcs",
            "ec2:GetSecurityGroupsForVpc",
            *elb(
                "DescribeCapacityReservation",
                "DescribeListenerAttributes",
                "DescribeListenerCertificates",
                "DescribeListeners",
                "DescribeLoadBalancerAttributes",
                "DescribeLoadBalancers",
                "DescribeRules",
                "DescribeSSLPolicies",
                "DescribeTags",
                "DescribeTargetGroupAttributes",
                "DescribeTargetGroups",
                "DescribeTargetHealth",
                "DescribeTrustStores",
            ),
            "iam:GetServerCertificate",
            "iam:ListServerCertificates",
            "shield:DescribeProtection",
            "shield:GetSubscriptionState",
            "waf-regional:GetWebACL",
            "waf-regional:GetWebACLForResource",
            "wafv2:GetWebACL",
            "wafv2:GetWebACLForResource",
        ],
        ["*"],
    )
    yield allow(
        "CreateSecurityGroups",
        "Each load balancer of an endpoint has a security group.",
        ["ec2:CreateSecurityGroup"],
        [*groups, vpc],
    )
    yield allow(
        "TagNewSecurityGroups",
        "The controller tags the security groups that it makes as its own.",
        ["ec2:CreateTags"],
        groups,
        {
            "StringEquals": {"ec2:CreateAction": "CreateSecurityGroup"},
            "Null": {making: "false"},
        },
    )
    yield allow(
        "TagOwnSecurityGroups",
        "The controller changes other tags of its own security groups.",
        ["ec2:CreateTags", "ec2:DeleteTags"],
        groups,
        retagged,
    )
    yield allow(
        "OpenSecurityGroups",
        "The controller lets load balancers reach pods: in the security groups of the VPC, the "
        "nodes' among them.",
        ["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"],
        groups,
        in_vpc,
    )
    yield allow(
        "DeleteOwnSecurityGroups",
        "The controller deletes its own security groups.",
        ["ec2:DeleteSecurityGroup"],
        groups,
        own,
    )
    yield allow(
        "CreateLoadBalancers",
        "The controller makes load balancers and target groups, tagged as its own.",
        elb("CreateLoadBalancer", "CreateTargetGroup"),
        [*balancers, *targets],
        {"Null": {making: "false"}},
    )
    yield allow(
        "TagNewLoadBalancers",
        "The controller tags them as its own when it makes them.",
        elb("AddTags"),
        [*balancers, *targets],
        {
            "StringEquals": {
                "elasticloadbalancing:CreateAction": ["CreateLoadBalancer", "CreateTargetGroup"]
            },
            "Null": {making: "false"},
        },
    )
    yield allow(
        "TagOwnLoadBalancers",
        "The controller changes other tags of its own ones.",
        elb("AddTags", "RemoveTags"),
        [*balancers, *targets],
        retagged,
    )
    yield allow(
        "ChangeOwnLoadBalancers",
        "The controller changes and deletes its own ones.",
        elb(
            "DeleteLoadBalancer",
            "DeleteTargetGroup",
            "ModifyLoadBalancerAttributes",
            "ModifyTargetGroup",
            "ModifyTargetGroupAttributes",
            "SetIpAddressType",
            "SetSecurityGroups",
            "SetSubnets",
        ),
        [*balancers, *targets],
        own,
    )
    yield allow(
        "ListenOnLoadBalancers",
        "The controller makes, changes and deletes listeners and their rules, and tags them.",
        elb(
            "AddListenerCertificates",
            "AddTags",
            "CreateListener",
            "CreateRule",
            "DeleteListener",
            "DeleteRule",
            "ModifyListener",
            "ModifyListenerAttributes",
            "ModifyRule",
            "RemoveListenerCertificates",
            "RemoveTags",
            "SetRulePriorities",
        ),
        [*balancers, *listeners],
    )
    yield allow(
        "RegisterPods",
        "The controller registers the pods of an endpoint as targets.",
        elb("DeregisterTargets", "RegisterTargets"),
        targets,
    )
