"""What the HyperPod inference operator needs of AWS: roles, and a bucket for certificates.

The names are those of version 1 of its add-on, which brings a load balancer controller and KEDA
along, each with a service account of its own. Version 2 adds a gateway, which lets in anyone who
reaches it unless each gateway says otherwise, and takes one more role.
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html and
https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-inference-gateway.html
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from aws_cdk import Aws, Fn, RemovalPolicy, Stack
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_ssm as ssm
from constructs import Construct

from hyperpod_cdk.eks.service_account_role import ServiceAccountRole, TokenIssuer
from hyperpod_cdk.operators.load_balancers import SWITCH, WILDCARD, load_balancer_statements
from hyperpod_cdk.synthesis.logs import access_log_bucket
from hyperpod_cdk.synthesis.reasons import (
    NIST,
    acknowledge,
    attach_managed_policy,
    inline_policy,
    skip_checkov,
    statement,
)

_NAMESPACE = "hyperpod-inference-system"
_POLICY = "AmazonSageMakerHyperPodInferenceAccess"


@dataclass(frozen=True, kw_only=True, slots=True)
class InferenceSetup:
    """What a deployment gives the inference operator.

    Attributes:
        issuer: Who signs the tokens of the cluster's service accounts.
        hyperpod_cluster_arn: ARN of the HyperPod cluster.
        vpc_id: The VPC, in which load balancers are made.
        eks_cluster_name: The EKS cluster, after which the controller tags what it makes.
        name: Name of the deployment, of which that of the bucket is made.
        access_log_days: When access logs of the bucket expire. Default: after 90 days.
    """

    issuer: TokenIssuer
    hyperpod_cluster_arn: str
    vpc_id: str
    eks_cluster_name: str
    name: str
    access_log_days: int | None = None


class InferenceAccess(Construct):
    """The roles of the inference operator, and the bucket of its endpoints' certificates.

    The bucket is retained: endpoints outlive the operator, and requests are captured there if they
    ask for it.

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
        attach_managed_policy(execution, _POLICY, whose="the inference operator's")
        passing = statement(
            self,
            sid="PassOwnRole",
            why=(
                "The operator gives HyperPod its own role; AWS's policy lets it pass only roles "
                "whose names begin with SageMakerHyperPodInference."
            ),
            added_by=SWITCH,
            actions=["iam:PassRole"],
            resources=[execution.role_arn],
            conditions={"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}},
        )
        inline_policy(self, "OperatorPolicy", role=execution, statements=[passing])
        balancers = self._role(
            "LoadBalancers",
            service_account="aws-load-balancer-controller",
            description="Makes the load balancers of endpoints",
        )
        balancing = [
            *load_balancer_statements(
                self, vpc_id=setup.vpc_id, eks_cluster_name=setup.eks_cluster_name
            )
        ]
        inline_policy(self, "LoadBalancersPolicy", role=balancers, statements=balancing)
        scaling = self._role(
            "Keda", service_account="keda-operator", description="Scales endpoints by metrics"
        )
        inline_policy(self, "KedaPolicy", role=scaling, statements=[*_keda_statements(self)])
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


def _keda_statements(scope: Construct) -> Iterator[iam.PolicyStatement]:
    workspaces = Stack.of(scope).format_arn(service="aps", resource="workspace", resource_name="*")
    add = partial(statement, scope, added_by=SWITCH, wildcard=WILDCARD)
    yield add(
        sid="ReadMetrics",
        why="KEDA scales an endpoint by metrics of CloudWatch.",
        actions=[
            "cloudwatch:GetMetricData",
            "cloudwatch:GetMetricStatistics",
            "cloudwatch:ListMetrics",
        ],
        resources=["*"],
    )
    yield add(
        sid="QueryPrometheus",
        why="KEDA scales an endpoint by metrics of a workspace of Prometheus, which it names.",
        actions=[
            "aps:GetLabels",
            "aps:GetMetricMetadata",
            "aps:GetSeries",
            "aps:QueryMetrics",
        ],
        resources=[workspaces],
    )
