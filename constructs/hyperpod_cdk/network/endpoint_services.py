"""The AWS services that a closed network reaches, each through a VPC endpoint.

What nodes call is what their execution role and its managed policy allow, and what a closed
cluster was run with by https://github.com/awslabs/awsome-distributed-ai,
1.architectures/7.sagemaker-hyperpod-eks, closed-network.tfvars. What the provisioner calls, the
rehearsal of `config/examples/closed-network.yaml` finds by running it.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

S3_SERVICE = "s3"
"""What a gateway endpoint serves, which has no price; all others are interface endpoints."""

_EKS_GUIDE = "https://docs.aws.amazon.com/eks/latest/userguide/private-clusters.html"
_SSM_GUIDE = "https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-create-vpc.html"
_NODE_POLICY = (
    "https://docs.aws.amazon.com/sagemaker/latest/dg/"
    "security-iam-awsmanpol-AmazonSageMakerClusterInstanceRolePolicy.html"
)
_CLOUDWATCH = "https://docs.aws.amazon.com/AmazonCloudWatch/latest"
# https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-push-iam.html
ECR_LOGIN = "ecr:GetAuthorizationToken"
IMAGE_PULLS = (
    "ecr:BatchCheckLayerAvailability",
    "ecr:BatchGetImage",
    "ecr:GetDownloadUrlForLayer",
)
IMAGE_PUSHES = (
    "ecr:CompleteLayerUpload",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
)

NEEDS = {
    "storage": "a file system",
    "hyperpod": "a HyperPod cluster",
    "kubernetes": "EKS",
    "accounting": "Slurm's accounting",
    "autoscaler": "the Cluster Autoscaler",
    "prometheus": "Prometheus",
    "managed_grafana": "Amazon Managed Grafana",
    "cloudwatch": "CloudWatch",
    "builds": "builds in the network",
}
"""What only some deployments have."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointService:
    """A service with an interface endpoint.

    Attributes:
        name: The last part of the endpoint service's name, such as `ecr.api`.
        users: Who calls it: the provisioner, nodes, or pods.
        why: What for.
        source: Where AWS says so, or the code that calls it.
        actions: What the endpoint lets through, of principals of the deployment's account.
        is_by_principals: Whether principals of IAM call it. Default: they do.
        needs: Keys of `NEEDS`; only deployments with one of these call it. Default: all do.
        for_builds: What it also lets through where images are built in the network.
    """

    name: str
    users: tuple[str, ...]
    why: str
    source: str
    actions: tuple[str, ...]
    is_by_principals: bool = True
    needs: tuple[str, ...] = ()
    for_builds: tuple[str, ...] = ()


ENDPOINT_SERVICES = (
    EndpointService(
        name="aps-workspaces",
        users=("pods",),
        why="metrics: collectors write them to Prometheus, and Grafana in the cluster queries them",
        source="https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-and-interface-VPC.html",
        actions=(
            "aps:GetLabels",
            "aps:GetMetricMetadata",
            "aps:GetSeries",
            "aps:QueryMetrics",
            "aps:RemoteWrite",
        ),
        needs=("prometheus",),
    ),
    EndpointService(
        name="autoscaling",
        users=("pods",),
        why="the Cluster Autoscaler changes the sizes of node groups",
        source="https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/"
        "cloudprovider/aws/README.md",
        actions=("autoscaling:*",),
        needs=("autoscaler",),
    ),
    EndpointService(
        name="cloudformation",
        users=("provisioner",),
        why="whether its stack is deployed, rolled back or deleted",
        source="lambda/provisioner/framework/operation.py",
        actions=("cloudformation:DescribeStackEvents",),
    ),
    EndpointService(
        name="ec2",
        users=("provisioner", "nodes"),
        why="the rules of the default security group; the VPC CNI gives pods their addresses",
        source=f"lambda/provisioner/default_security_group.py, {_EKS_GUIDE}",
        actions=("ec2:*",),
    ),
    EndpointService(
        name="ec2messages",
        users=("nodes",),
        why="sessions on nodes, with SSM Agents before 3.3.40",
        source=_SSM_GUIDE,
        actions=("ec2messages:*",),
        needs=("hyperpod",),
    ),
    EndpointService(
        name="ecr.api",
        users=("nodes",),
        why="the login before images are pulled",
        source="https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
        actions=tuple(sorted((ECR_LOGIN, *IMAGE_PULLS))),
        for_builds=IMAGE_PUSHES,
    ),
    EndpointService(
        name="ecr.dkr",
        users=("nodes",),
        why="images; their layers come from S3",
        source="https://docs.aws.amazon.com/AmazonECR/latest/userguide/vpc-endpoints.html",
        actions=tuple(sorted((ECR_LOGIN, *IMAGE_PULLS))),
        for_builds=IMAGE_PUSHES,
    ),
    EndpointService(
        name="eks",
        users=("provisioner",),
        why="where the Kubernetes API is, and its certificate authority",
        source="lambda/provisioner/kubernetes/cluster.py",
        actions=("eks:DescribeCluster", "eks:DescribeNodegroup"),
        needs=("kubernetes",),
    ),
    EndpointService(
        name="eks-auth",
        users=("nodes",),
        why="credentials of pods, by EKS Pod Identity",
        source="https://docs.aws.amazon.com/eks/latest/userguide/pod-id-agent-setup.html",
        actions=("eks-auth:AssumeRoleForPodIdentity",),
        needs=("kubernetes",),
    ),
    EndpointService(
        name="fsx",
        users=("provisioner", "nodes", "pods"),
        why="whether a file system can be mounted, and serves Lustre over EFA; its CSI driver",
        source="lambda/provisioner/file_system_availability.py, "
        "lifecycle/eks/steps/lustre_over_efa.sh",
        actions=("fsx:*",),
        needs=("storage",),
    ),
    EndpointService(
        name="grafana-workspace",
        users=("browsers",),
        why="Grafana, whose users it signs in itself",
        source="https://docs.aws.amazon.com/sagemaker/latest/dg/"
        "hyperpod-observability-addon-setup.html",
        actions=("*",),
        is_by_principals=False,
        needs=("managed_grafana",),
    ),
    EndpointService(
        name="logs",
        users=("nodes", "pods"),
        why="logs of lifecycle scripts, of the health monitoring agent, of containers, of builds",
        source=f"{_NODE_POLICY}, {_CLOUDWATCH}/logs/cloudwatch-logs-and-interface-VPC.html",
        actions=("logs:*",),
        needs=("hyperpod", "cloudwatch", "builds"),
    ),
    EndpointService(
        name="monitoring",
        users=("nodes", "pods"),
        why="metrics of nodes and pods",
        source=f"{_NODE_POLICY}, {_CLOUDWATCH}/monitoring/cloudwatch-and-interface-VPC.html",
        actions=("cloudwatch:*",),
        needs=("hyperpod", "cloudwatch"),
    ),
    EndpointService(
        name="sagemaker.api",
        users=("provisioner", "nodes"),
        why="the HyperPod cluster; further network interfaces of nodes, for the VPC CNI",
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
        "API_AttachClusterNodeNetworkInterface.html",
        actions=("sagemaker:*",),
        needs=("hyperpod",),
    ),
    EndpointService(
        name="secretsmanager",
        users=("nodes",),
        why="the password of the database of Slurm's accounting",
        source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/"
        "API_ClusterAccountingDatabase.html",
        actions=("secretsmanager:GetSecretValue",),
        needs=("accounting",),
    ),
    EndpointService(
        name="ssm",
        users=("nodes",),
        why="sessions on nodes",
        source=_SSM_GUIDE,
        actions=("ssm:*",),
        needs=("hyperpod",),
    ),
    EndpointService(
        name="ssmmessages",
        users=("nodes",),
        why="sessions on nodes",
        source=_NODE_POLICY,
        actions=("ssmmessages:*",),
        needs=("hyperpod",),
    ),
    EndpointService(
        name="sts",
        users=("nodes", "pods"),
        why="roles that nodes and pods assume",
        source=_EKS_GUIDE,
        actions=("sts:AssumeRole", "sts:GetCallerIdentity"),
    ),
)


def endpoint_services(has: Collection[str]) -> Iterator[EndpointService]:
    """Yield the services of a deployment that has these keys of `NEEDS`.

    A build in the network calls no other services than nodes do: ECR, S3 and CloudWatch Logs. Who
    starts it is not in the network.
    """
    for service in ENDPOINT_SERVICES:
        if not service.needs or not {*service.needs}.isdisjoint(has):
            further = service.for_builds if "builds" in has else ()
            yield replace(service, actions=(*service.actions, *further))
