"""The account and region are bootstrapped for the CDK."""

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, error
from hyperpod_cli.aws.session import AwsClient, answer_of
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

BOOTSTRAP_VERSION = "/cdk-bootstrap/hnb659fds/version"
"""The parameter of a bootstrap stack with CDK's default qualifier:
https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-customizing.html"""


@validator(phase=Phase.REGION, iam=["ssm:GetParameter"])
def bootstrap(_config: Config, target: Target) -> Problems:
    """`cdk bootstrap` has never run in the account and region.

    [CDK](https://docs.aws.amazon.com/cdk/v2/guide/bootstrapping-env.html)
    """
    finding = bootstrap_finding(target.client("ssm"), where=str(target))
    if finding is not None:
        yield finding, f"aws ssm get-parameter --name {BOOTSTRAP_VERSION}"


def bootstrap_finding(parameters: AwsClient, *, where: str) -> Finding | None:
    """Return what to do about a bootstrap stack that is missing somewhere; None if it is there."""
    if answer_of(parameters.get_parameter, "ParameterNotFound", Name=BOOTSTRAP_VERSION) is not None:
        return None
    message = "is not bootstrapped for CDK; run once: hyperpod-cdk bootstrap, with the same FILE"
    return error((), where, message)
