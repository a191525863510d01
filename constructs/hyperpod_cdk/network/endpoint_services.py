"""The AWS services that a closed network reaches, each through a VPC endpoint.

They are in `endpoint_services.yaml`, with what they are for.
What nodes call is what their execution role and its managed policy allow, and what a closed
cluster was run with by https://github.com/awslabs/awsome-distributed-ai,
1.architectures/7.sagemaker-hyperpod-eks, closed-network.tfvars. What the provisioner calls, the
rehearsal of `config/examples/closed-network.yaml` finds by running it.
"""

from collections.abc import Collection, Iterator
from dataclasses import replace

from pydantic import ConfigDict, TypeAdapter
from pydantic.dataclasses import dataclass

from hyperpod_cdk.facts import table_of

S3_SERVICE = "s3"
"""What nodes reach through a gateway endpoint in every new network."""

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


@dataclass(config=ConfigDict(extra="forbid"), frozen=True, kw_only=True, slots=True)
class EndpointService:
    """A service with an endpoint.

    Attributes:
        name: The last part of the endpoint service's name, such as `ecr.api`.
        users: Who calls it: the provisioner, nodes, or pods.
        why: What for.
        source: Where AWS says so, or the code that calls it.
        actions: What the endpoint lets through, of principals of the deployment's account.
        is_gateway: Whether its endpoint is a gateway endpoint: of route tables, without an address
            or a price, for what the account owns. Default: it is an interface endpoint.
        is_by_principals: Whether principals of IAM call it. Default: they do.
        needs: Keys of `NEEDS`; only deployments with one of these call it. Default: all do.
        for_builds: What it also lets through where images are built in the network.
    """

    name: str
    users: tuple[str, ...]
    why: str
    source: str
    actions: tuple[str, ...]
    is_gateway: bool = False
    is_by_principals: bool = True
    needs: tuple[str, ...] = ()
    for_builds: tuple[str, ...] = ()


ENDPOINT_SERVICES = TypeAdapter(tuple[EndpointService, ...]).validate_python(
    table_of(__package__, "endpoint_services")
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
