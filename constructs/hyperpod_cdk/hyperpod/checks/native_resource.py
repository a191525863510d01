"""The cluster as a resource of CloudFormation's own."""

from hyperpod_cdk.facts.native_cluster import Lacking, lacking
from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.hyperpod.waiting import WaitingConfig
from hyperpod_cdk.schema.errors import Findings, error
from hyperpod_cdk.schema.section import key_path_of

_OR_CUSTOM = "or use cluster.resource: custom"


def native_resource(cluster: ClusterConfig) -> Findings:
    """Find what `AWS::SageMaker::Cluster` does not take, and what has no effect with it.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sagemaker-cluster.html
    """
    if cluster.resource != "native":
        return
    for key in WaitingConfig.model_fields:
        if key in cluster.model_fields_set:
            yield error(
                ("cluster", key),
                getattr(cluster, key),
                "has no effect with resource: native, which leaves waiting and failures to "
                f"CloudFormation; leave it out, {_OR_CUSTOM}",
            )
    if cluster.auto_scaling is not None:
        yield error(
            ("cluster", "auto_scaling"),
            cluster.auto_scaling,
            "is refused with resource: native, which brings the configured numbers of nodes back "
            f"whenever the cluster changes; leave it out, {_OR_CUSTOM}",
        )
    for found in lacking(cluster.to_request()):
        path = ("cluster", *key_path_of(cluster, found.path))
        yield error(path, found.value, _message(found))


def _message(found: Lacking) -> str:
    member = ".".join(step for step in found.path if isinstance(step, str))
    if found.is_member:
        return f"is not in AWS::SageMaker::Cluster ({member}); leave it out, {_OR_CUSTOM}"
    if found.allowed:
        return f"must be {' or '.join(found.allowed)} with resource: native, {_OR_CUSTOM}"
    return f"is in no form that AWS::SageMaker::Cluster takes ({member}); change it, {_OR_CUSTOM}"
