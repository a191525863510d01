"""How many instance groups a cluster has."""

from hyperpod_cdk.hyperpod.section import ClusterConfig
from hyperpod_cdk.schema.errors import Findings, warning

_DOCUMENTED = 20


def group_count(cluster: ClusterConfig) -> Findings:
    """Find more groups than the guide says; more than the API takes never get this far.

    https://docs.aws.amazon.com/sagemaker/latest/dg/sagemaker-hyperpod-eks-operate-cli-command-create-cluster.html
    """
    count = len(cluster.instance_groups)
    if count > _DOCUMENTED:
        yield warning(
            ("cluster", "instance_groups"),
            count,
            f"groups are more than the {_DOCUMENTED} of the HyperPod guide, though its API takes "
            "100; ask AWS whether the account may have them",
        )
