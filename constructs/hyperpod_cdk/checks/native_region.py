"""The region has CloudFormation's own type of a HyperPod cluster."""

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.native_cluster import native_regions
from hyperpod_cdk.schema.errors import Findings, error


def native_region(config: Config) -> Findings:
    """Find a native cluster in a region whose CloudFormation does not have the type.

    The regions are those for which CloudFormation publishes a schema of it:
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/resource-type-schemas.html
    """
    region = config.region
    if config.cluster.resource != "native" or region is None or region in native_regions():
        return
    yield error(
        ("cluster", "resource"),
        config.cluster.resource,
        f"is not offered in {region}, whose CloudFormation has no AWS::SageMaker::Cluster; use "
        f"custom, or one of {', '.join(sorted(native_regions()))}",
    )
