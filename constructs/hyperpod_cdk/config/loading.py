"""Loading a configuration file."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk.checks import Severity, deployment_of, findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.config.faults import ConfigError, Fault, key_path, shown
from hyperpod_cdk.config.validation_faults import faults_of
from hyperpod_cdk.config.yaml_file import read_yaml


def load_config(path: Path) -> Config:
    """Read and check a configuration file.

    Args:
        path: The YAML file; `helm.chart` in it is relative to its folder.

    Returns:
        The configuration, with defaults for what the file leaves out.

    Raises:
        ConfigError: The file cannot be used; every fault has its own line.
    """
    document = read_yaml(path)
    if document is None:
        raise ConfigError([f"{path}: is empty; name and cluster.instance_groups are required"])
    if not isinstance(document, dict):
        allowed = "must be a mapping of keys to values, such as `name: ml`"
        raise ConfigError([f"{path}: {shown(document)} {allowed}"])
    try:
        config = Config.model_validate(document, context={"folder": path.parent})
    except ValidationError as error:
        faults = faults_of(error, model=Config)
        raise ConfigError(_line(path, fault, document=document) for fault in faults) from None
    if faults := list(_check_faults(config)):
        raise ConfigError(_line(path, fault, document=document) for fault in faults)
    return config


def _check_faults(config: Config) -> Iterator[Fault]:
    """Find what a well-formed configuration gets wrong about the service or its hardware."""
    for finding in findings(deployment_of(config)):
        if finding.severity is Severity.ERROR:
            yield Fault(path=finding.path, value=finding.value, message=finding.message)


def _line(path: Path, fault: Fault, *, document: dict[str, Any]) -> str:
    given = "" if _is_given(fault, document=document) else " (the default)"
    value = "" if fault.message.startswith("is missing") else f"{shown(fault.value)}{given} "
    return f"{path}: {key_path(fault.path)}: {value}{fault.message}"


def _is_given(fault: Fault, *, document: dict[str, Any]) -> bool:
    """Tell whether the value stands in the file, or is a default that something contradicts."""
    value: Any = document
    for step in fault.path:
        known = range(len(value)) if isinstance(value, list) else value
        if not isinstance(known, dict | range) or step not in known:
            return False
        value = value[step]
    return True
