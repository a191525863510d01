"""The region has CloudFormation's own type of HyperPod clusters."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error
from hyperpod_cli.aws.session import answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

_NATIVE = "AWS::SageMaker::Cluster"


@validator(phase=Phase.REGION, of_hyperpod=True, iam=["cloudformation:DescribeType"])
def resource_types(config: Config, target: Target) -> Problems:
    """`cluster.resource: native`, and the region has no `AWS::SageMaker::Cluster`.

    Keys: cluster.resource

    [DescribeType](https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeType.html)
    """
    if config.cluster.resource != "native":
        return
    cloudformation = target.client("cloudformation")
    absent = ("TypeNotFoundException", "TypeNotFound")
    asked = {"Type": "RESOURCE", "TypeName": _NATIVE}
    if answer_of(cloudformation.describe_type, *absent, **asked) is None:
        message = (
            f"needs {_NATIVE}, which CloudFormation does not have here; set custom or another "
            "region"
        )
        command = f"aws cloudformation describe-type --type RESOURCE --type-name {_NATIVE}"
        yield error(("cluster", "resource"), "native", message), command
