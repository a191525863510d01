"""Loading a configuration file."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from hyperpod_cdk.checks import findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.facts.service_limits import regions
from hyperpod_cdk.helm.chart import HyperPodChart
from hyperpod_cdk.helm.chart_rules import chart_findings
from hyperpod_cdk.pipeline.section import EnvironmentConfig, PipelineConfig, PipelineFile
from hyperpod_cdk.schema.errors import ConfigError, Findings, Severity, error, shown
from hyperpod_cdk.schema.section import Section, findings_of
from hyperpod_cdk.schema.yaml_file import YamlFile, parsed_yaml, read_yaml, token_findings

_PIPELINE = "pipeline"

AnySection = TypeVar("AnySection", bound=Section)


@dataclass(frozen=True, kw_only=True, slots=True)
class Deployment:
    """A configuration, and where it came from.

    Attributes:
        config: The configuration.
        path: Its file.
    """

    config: Config
    path: Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Loaded:
    """What a configuration file describes.

    Attributes:
        deployments: The deployment; for a pipeline that of each environment, in their order.
        pipeline: The pipeline, if it describes one.
    """

    deployments: Sequence[Deployment]
    pipeline: PipelineConfig | None = None

    @property
    def regions(self) -> list[str]:
        """The regions that it names, each once; that of the pipeline first."""
        own = None if self.pipeline is None else self.pipeline.region
        all_of_them = [own, *(each.config.region for each in self.deployments)]
        return list(dict.fromkeys(filter(None, all_of_them)))


def load_file(path: Path | str) -> Loaded:
    """Read and check a configuration file of a deployment or of a pipeline.

    Raises:
        ConfigError: A file cannot be used; every finding has its own line.
    """
    path = Path(path)
    file = read_yaml(path)
    if not _describes_pipeline(file):
        return Loaded(deployments=[Deployment(config=_config(file), path=path)])
    pipeline = _section(PipelineFile, file).pipeline
    deployments = [_environment(environment) for environment in pipeline.environments]
    file.refuse(_environment_findings(pipeline, deployments=deployments))
    return Loaded(deployments=deployments, pipeline=pipeline)


def load_config(path: Path | str, *, region: str | None = None) -> Config:
    """Read and check the configuration file of a deployment.

    Args:
        path: The YAML file; `helm.chart` in it is relative to its folder.
        region: What a file that names no region is checked for. Default: any region.

    Returns:
        The configuration, with defaults for what the file leaves out.

    Raises:
        ConfigError: The file cannot be used; every finding has its own line.
    """
    file = read_yaml(Path(path))
    if _describes_pipeline(file):
        environments = _section(PipelineFile, file).pipeline.environments
        files = ", ".join(dict.fromkeys(environment.config for environment in environments))
        raise ConfigError(
            [
                f"{path}: describes a pipeline, which `hyperpod-cdk pipeline` deploys; here, give "
                "the file "
                f"of one environment: {files}"
            ]
        )
    return _config(file, region=region)


def config_of(text: str, *, path: Path) -> Config:
    """Check what the configuration file of a deployment is to hold.

    Args:
        text: The text.
        path: The file; `helm.chart` in the text is relative to its folder.

    Raises:
        ConfigError: The text cannot be used; every finding has its own line.
    """
    return _config(parsed_yaml(text.removeprefix("\ufeff"), path=path))


def _describes_pipeline(file: YamlFile) -> bool:
    return isinstance(file.document, dict) and _PIPELINE in file.document


def _config(file: YamlFile, *, region: str | None = None) -> Config:
    """Return the configuration that a file holds; a region is put into one without."""
    config = _section(Config, file, region=region)
    file.refuse(found for found in findings(config) if found.severity is Severity.ERROR)
    return config


def _section(section: type[AnySection], file: YamlFile, *, region: str | None = None) -> AnySection:
    """Return the section that the document of a file is; a region is put into one without."""
    path, document = file.path, file.document
    if document is None:
        raise ConfigError([f"{path}: is empty; name and cluster.instance_groups are required"])
    if not isinstance(document, dict):
        allowed = "must be a mapping of keys to values, such as `name: ml`"
        raise ConfigError([f"{path}: {shown(document)} {allowed}"])
    file.refuse(token_findings(document))
    if region is not None and document.get("region") is None:
        document = {**document, "region": region}
    try:
        return section.model_validate(document, context={"folder": path.parent})
    except ValidationError as refused:
        file.refuse(findings_of(refused, model=section))
        raise


def _environment(environment: EnvironmentConfig) -> Deployment:
    """Return what an environment of a pipeline deploys, with the environment's region in it."""
    path = Path(environment.config)
    file = read_yaml(path)
    if _describes_pipeline(file):
        raise ConfigError([f"{path}: describes a pipeline; an environment needs a deployment"])
    document: Any = file.document
    written = document.get("region") if isinstance(document, dict) else None
    if written is not None and environment.region not in (None, written):
        message = (
            f"must be {environment.region}, the region of environment {environment.name}, or be "
            "left out"
        )
        file.refuse([error(("region",), written, message)])
    return Deployment(config=_config(file, region=environment.region), path=path)


def _environment_findings(
    pipeline: PipelineConfig, *, deployments: Sequence[Deployment]
) -> Findings:
    """Find environments without a region, of a foreign partition, or that are the same twice."""
    partition = regions()[pipeline.region]
    places: Counter[tuple[str, str, str]] = Counter()
    pairs = zip(pipeline.environments, deployments, strict=True)
    for index, (environment, deployment) in enumerate(pairs):
        path = (_PIPELINE, "environments", index)
        region = deployment.config.region
        if region is None:
            message = f"is missing here and in {deployment.path}; a pipeline needs it"
            yield error((*path, "region"), None, message)
            continue
        if regions()[region] != partition:
            message = f"must be of partition {partition}, which the pipeline's region belongs to"
            yield error((*path, "region"), region, message)
        place = (deployment.config.name, environment.account, region)
        places[place] += 1
        if places[place] > 1:
            message = (
                f"deploys {deployment.config.name} to account {environment.account} in {region}, "
                "as an environment above does; give one of them another account, region or name"
            )
            yield error((*path, "config"), environment.config, message)


def check_chart(config: Config, *, path: Path, chart: HyperPodChart) -> None:
    """Refuse what a configuration file asks of a chart that does not have it.

    Raises:
        ConfigError: The chart lacks something; every finding has its own line.
    """
    if config.control_plane is None:
        return
    found = list(
        chart_findings(
            chart,
            helm=config.helm,
            region=config.region,
            instance_types=config.instance_types,
        )
    )
    if found:
        read_yaml(path).refuse(found)
