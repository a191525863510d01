"""Loading a configuration file."""

from pathlib import Path

from pydantic import ValidationError

from hyperpod_cdk.checks import findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart.chart import HyperPodChart
from hyperpod_cdk.helm.chart.rules import chart_findings
from hyperpod_cdk.schema.errors import ConfigError, Severity, shown
from hyperpod_cdk.schema.section import findings_of
from hyperpod_cdk.schema.yaml_file import read_yaml, token_findings


def load_config(path: Path, *, region: str | None = None) -> Config:
    """Read and check a configuration file.

    Args:
        path: The YAML file; `helm.chart` in it is relative to its folder.
        region: What a file that names no region is checked for. Default: any region.

    Returns:
        The configuration, with defaults for what the file leaves out.

    Raises:
        ConfigError: The file cannot be used; every finding has its own line.
    """
    file = read_yaml(path)
    document = file.document
    if document is None:
        raise ConfigError([f"{path}: is empty; name and cluster.instance_groups are required"])
    if not isinstance(document, dict):
        allowed = "must be a mapping of keys to values, such as `name: ml`"
        raise ConfigError([f"{path}: {shown(document)} {allowed}"])
    file.refuse(token_findings(document))
    if region is not None and document.get("region") is None:
        document = {**document, "region": region}
    try:
        config = Config.model_validate(document, context={"folder": path.parent})
    except ValidationError as error:
        file.refuse(findings_of(error, model=Config))
        raise
    file.refuse(found for found in findings(config) if found.severity is Severity.ERROR)
    return config


def check_chart(config: Config, *, path: Path, chart: HyperPodChart) -> None:
    """Refuse what a configuration file asks of a chart that does not have it.

    Args:
        config: What the file holds.
        path: The YAML file.
        chart: Chart of the HyperPod dependencies.

    Raises:
        ConfigError: The chart lacks something; every finding has its own line.
    """
    found = list(
        chart_findings(
            chart,
            helm=config.helm,
            region=config.region,
            instance_types=config.cluster.instance_types,
        )
    )
    if found:
        read_yaml(path).refuse(found)
