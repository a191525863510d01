"""Loading a configuration file."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk.checks import findings
from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import ConfigError, Finding, Severity, key_path, shown
from hyperpod_cdk.schema.section import findings_of
from hyperpod_cdk.schema.yaml_file import read_yaml, token_findings


def load_config(path: Path) -> Config:
    """Read and check a configuration file.

    Args:
        path: The YAML file; `helm.chart` in it is relative to its folder.

    Returns:
        The configuration, with defaults for what the file leaves out.

    Raises:
        ConfigError: The file cannot be used; every finding has its own line.
    """
    document = read_yaml(path)
    if document is None:
        raise ConfigError([f"{path}: is empty; name and cluster.instance_groups are required"])
    if not isinstance(document, dict):
        allowed = "must be a mapping of keys to values, such as `name: ml`"
        raise ConfigError([f"{path}: {shown(document)} {allowed}"])
    _refuse(token_findings(document), file=path, document=document)
    try:
        config = Config.model_validate(document, context={"folder": path.parent})
    except ValidationError as error:
        _refuse(findings_of(error, model=Config), file=path, document=document)
        raise
    errors = (found for found in findings(config) if found.severity is Severity.ERROR)
    _refuse(errors, file=path, document=document)
    return config


def _refuse(found: Iterable[Finding], *, file: Path, document: dict[str, Any]) -> None:
    lines = [_line(file, finding, document=document) for finding in found]
    if lines:
        raise ConfigError(lines) from None


def _line(path: Path, finding: Finding, *, document: dict[str, Any]) -> str:
    given = "" if _is_given(finding, document=document) else " (the default)"
    value = "" if finding.message.startswith("is missing") else f"{shown(finding.value)}{given} "
    return f"{path}: {key_path(finding.path)}: {value}{finding.message}"


def _is_given(finding: Finding, *, document: dict[str, Any]) -> bool:
    """Tell whether the value is in the file, or is a default that something contradicts."""
    value: Any = document
    for step in finding.path:
        known = range(len(value)) if isinstance(value, list) else value
        if not isinstance(known, dict | range) or step not in known:
            return False
        value = value[step]
    return True
