"""What each operator needs besides itself."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.instance_types import is_arm
from hyperpod_cdk.operators.section import CLUSTER_TAG
from hyperpod_cdk.schema.errors import Findings, error, warning

# https://docs.aws.amazon.com/elasticloadbalancing/latest/application/application-load-balancers.html
_ZONES = 2


def operator_needs(config: Config) -> Findings:
    """Find operators without the add-ons that they need, or that the network or a tag holds back.

    An EKS cluster that exists may have the add-ons in another way.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-eks-operator-install.html,
    https://docs.aws.amazon.com/sagemaker/latest/dg/operator-install.html and
    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-model-deployment-setup.html
    """
    operators = config.operators
    for addon in operators.addons:
        for needed, why in addon.needs.items():
            if not getattr(operators, needed) and not config.eks.is_existing:
                message = f"must be true for operators.{addon.key}: {why}"
                yield error(("operators", needed), False, message)
    if operators.training_operator:
        yield from _training_operator(config)
    if operators.spaces and config.network.closed:
        yield warning(
            ("operators", "spaces"),
            True,
            "has images of public.ecr.aws in its templates, which no node of a closed network "
            "pulls; mirror them, and name yours in each Workspace",
        )
    if operators.inference_operator:
        yield from _inference_operator(config)
    if operators.node_monitoring_agent and not (config.node_groups or config.eks.is_existing):
        message = "must be false without node_groups: it runs on no node of HyperPod"
        yield error(("operators", "node_monitoring_agent"), True, message)


def _training_operator(config: Config) -> Findings:
    for key, value in CLUSTER_TAG.items():
        if config.tags.get(key, value) != value:
            yield error(
                ("tags", key),
                config.tags[key],
                f'must be "{value}", or left out: the training operator looks only at nodes of '
                "clusters with that tag",
            )


def _inference_operator(config: Config) -> Findings:
    """Find what keeps the inference operator from roles, certificates, nodes or load balancers."""
    key, eks, network = ("operators", "inference_operator"), config.eks, config.network
    if eks.is_existing and eks.oidc_provider_arn is None:
        message = (
            "is missing: the pods of operators.inference_operator have roles by the IAM OIDC "
            f"provider of {config.eks_cluster_name}; `aws iam list-open-id-connect-providers` lists"
            " those of the account"
        )
        yield error(("eks", "oidc_provider_arn"), None, message)
    if network.closed:
        # https://docs.aws.amazon.com/vpc/latest/privatelink/aws-services-privatelink-support.html
        message = (
            "must be false in a closed network: it imports certificates into AWS Certificate "
            "Manager, whose API has no VPC endpoint"
        )
        yield error(key, True, message)
    if config.instance_types and all(map(is_arm, config.instance_types)):
        # https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-inference-release-notes.html
        message = "have no x86-64, on which alone the inference operator runs; add a group"
        names = [group.name for group in config.cluster.instance_groups]
        yield error(("cluster", "instance_groups"), names, message)
    if network.vpc_id is None and network.node_zone_count < _ZONES:
        message = (
            "is in one availability zone, and the internal load balancer of an endpoint takes "
            "subnets in two; add one in another zone"
        )
        yield warning(("network", "hyperpod_subnets"), [*network.new_hyperpod_cidrs], message)
