"""The programs that deploying and operating take, and that no package brings, are here."""

from collections.abc import Mapping
from shutil import which

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import warning
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator

# By name: what takes the program, which reads on from its name; how it gets here.
_TOOLS: Mapping[str, tuple[str, str]] = {
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


@validator(phase=Phase.MACHINE)
def client_tools(config: Config, _target: Target) -> Problems:
    """Git, the AWS CLI or its session plugin is missing (w).

    [AWS CLI](https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html)
    """
    for name, (use, fix) in _TOOLS.items():
        if which(name) is not None or (name == "git" and not config.needs_official_chart):
            continue
        message = f"is not on the PATH; it {use}: {fix}"
        yield warning((), name, message), f"command -v {name}"
