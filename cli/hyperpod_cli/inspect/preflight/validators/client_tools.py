"""The programs that deploying and operating take are on this machine."""

from collections.abc import Mapping
from shutil import which

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import error, warning
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

# By name: what takes the program, which reads on from its name; how it gets here.
_TOOLS: Mapping[str, tuple[str, str]] = {
    # https://docs.aws.amazon.com/cdk/v2/guide/prerequisites.html
    "node": ("runs the CDK", "run `make setup` in the checkout"),
    "cdk": ("deploys", "run `make setup` in the checkout"),
    "git": ("gets the official chart, if it is not packaged yet", "install git"),
    # https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html
    "aws": (
        "opens shells, signs in to Kubernetes, looks by hand",
        "install the AWS CLI, version 2",
    ),
    "session-manager-plugin": (
        "opens shells on nodes",
        "https://docs.aws.amazon.com/systems-manager/latest/userguide/"
        "session-manager-working-with-install-plugin.html",
    ),
}
_NEEDED = ("node", "cdk")


@validator(
    phase=Phase.MACHINE,
    row="Node.js or the CDK CLI is missing; git, AWS CLI, session plugin (w)",
    source="[CDK](https://docs.aws.amazon.com/cdk/v2/guide/prerequisites.html)",
)
def client_tools(config: Config, _target: Target) -> Problems:
    """Find programs that are not on the PATH."""
    for name, (use, fix) in _TOOLS.items():
        if which(name) is not None or (name == "git" and not config.needs_official_chart):
            continue
        message = f"is not on the PATH; it {use}: {fix}"
        refuse = error if name in _NEEDED else warning
        yield refuse((), name, message), f"command -v {name}"
