"""What is said of a configuration without asking AWS: whether it is valid, and what it deploys."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from hyperpod_cdk import Config, ConfigError, load_config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.cost.charges import Cost
from hyperpod_cdk.loading import check_chart
from hyperpod_cdk.schema.errors import Finding, Severity
from hyperpod_cdk.schema.yaml_file import read_yaml
from hyperpod_cli.deliver.shell_findings import shell_findings
from hyperpod_cli.inspect.cost import cost_here, sums_as_json
from hyperpod_cli.inspect.kubernetes_support import support_findings
from hyperpod_stacks.packaged_chart import helm_chart
from hyperpod_stacks.table import description


@dataclass(frozen=True, kw_only=True, slots=True)
class Validation:
    """What a valid configuration deploys and costs, and its warnings; some have no key."""

    path: Path
    stacks: Sequence[str]
    cost: Cost
    warnings: Sequence[Finding | str]

    def as_json(self) -> Mapping[str, Any]:
        """Return it as JSON."""
        file = read_yaml(self.path)
        return {
            "config": str(self.path),
            "valid": True,
            "deploys": list(self.stacks),
            "cost": sums_as_json(self.cost),
            "findings": [
                file.row(each) if isinstance(each, Finding) else _row(each, Severity.WARNING)
                for each in self.warnings
            ],
        }


def validation(path: Path) -> Validation:
    """Return what is said of a configuration; raise ConfigError for one that is refused."""
    config = load_config(path)
    check_chart(config, path=path, chart=helm_chart(config))
    return Validation(
        path=path,
        stacks=[*description(config)],
        cost=cost_here(config),
        warnings=[*_warnings(config)],
    )


def _warnings(config: Config) -> Iterator[Finding | str]:
    yield from findings(config)
    yield from shell_findings(config)
    if config.control_plane:
        yield from support_findings(config, day=date.today(), is_new=False)


def refusal_as_json(path: Path, error: ConfigError) -> Mapping[str, Any]:
    """Return what is said of a configuration that is refused, as JSON."""
    rows = error.rows or [_row(line, Severity.ERROR) for line in error.lines]
    return {"config": str(path), "valid": False, "deploys": [], "cost": None, "findings": rows}


def _row(message: str, severity: Severity) -> Mapping[str, Any]:
    """Return what has no key in the configuration as a row among findings."""
    place = {"file": None, "line": None, "key": None, "value": None, "rule": None}
    return {"severity": str(severity), **place, "message": message}
