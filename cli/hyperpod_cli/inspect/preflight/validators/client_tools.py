"""The programs that deploying and operating take are on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from shutil import which

from hyperpod_cdk import Config
from hyperpod_cdk.schema.errors import Finding, Severity
from hyperpod_cli.inspect.preflight.validator import Phase, Problems, Target, validator


@dataclass(frozen=True, kw_only=True, slots=True)
class _Tool:
    """A program: what takes it, which reads on from its name, and how it gets here."""

    use: str
    fix: str
    severity: Severity = Severity.WARNING


_TOOLS: Mapping[str, _Tool] = {
    # https://docs.aws.amazon.com/cdk/v2/guide/prerequisites.html
    "node": _Tool(
        use="runs the CDK", fix="run `make setup`, and this by make", severity=Severity.ERROR
    ),
    "cdk": _Tool(use="deploys", fix="run `make setup`, and this by make", severity=Severity.ERROR),
    "git": _Tool(use="gets the official chart, if it is not packaged yet", fix="install git"),
    # https://docs.aws.amazon.com/cli/latest/userguide/getting-started-install.html
    "aws": _Tool(
        use="opens shells, signs in to Kubernetes, looks by hand",
        fix="install the AWS CLI, version 2",
    ),
    "session-manager-plugin": _Tool(
        use="opens shells on nodes",
        fix="https://docs.aws.amazon.com/systems-manager/latest/userguide/"
        "session-manager-working-with-install-plugin.html",
    ),
}


@validator(
    phase=Phase.MACHINE,
    row="node or the CDK CLI is missing; git, AWS CLI, session plugin (w)",
    source="[CDK](https://docs.aws.amazon.com/cdk/v2/guide/prerequisites.html)",
)
def client_tools(config: Config, _target: Target) -> Problems:
    """Find programs that are not on the PATH."""
    for name, tool in _TOOLS.items():
        if which(name) is not None or (name == "git" and not config.needs_official_chart):
            continue
        message = f"is not on the PATH; it {tool.use}: {tool.fix}"
        finding = Finding(value=name, message=message, severity=tool.severity)
        yield finding, f"command -v {name}"
