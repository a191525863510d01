"""Writes the file of a new configuration, or says what keeps it from being deployed."""

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hyperpod_cdk import Config, load_config
from hyperpod_cdk.checks import findings
from hyperpod_cdk.schema.errors import Finding, Severity
from hyperpod_cdk.schema.section import findings_of
from hyperpod_cli.inspect.cost import cost_here, summary
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_cli.terminal.options import command_line
from hyperpod_stacks.table import description


def refused(document: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what keeps a document from being deployed."""
    try:
        config = Config.model_validate(document)
    except ValidationError as error:
        yield from findings_of(error, model=Config)
        return
    yield from (found for found in findings(config) if found.severity is Severity.ERROR)


def refuse_existing(path: Path) -> None:
    """Refuse a file that exists."""
    if path.exists():
        raise OpsError(f"{path}: exists and is not overwritten; name another FILE")


def write_new(text: str, *, path: Path) -> Config:
    """Write a configuration, all of it or nothing, and return what it holds."""
    try:
        with tempfile.TemporaryDirectory(dir=path.parent, prefix=".new-") as folder:
            draft = Path(folder) / path.name
            draft.write_text(text, encoding="utf-8")
            config = load_config(draft)
            refuse_existing(path)
            draft.rename(path)
    except OSError as error:
        raise OpsError(f"{path}: cannot be written: {error.strerror}") from None
    return config


def report(config: Config, *, path: Path) -> Iterator[str]:
    """Yield what a new file deploys and costs, what to read then, and what to run next."""
    yield f"Wrote {path}. It deploys:"
    for line in description(config):
        yield f"  {line}"
    yield summary(cost_here(config))
    for warning in findings(config):
        yield f"WARNING {warning}"
    yield "Next:"
    for name, what in (
        ("cost", "what each resource costs"),
        ("rehearse", "deploys it to a local AWS, without an account"),
        ("bootstrap", "prepares account and region for CDK, once"),
        ("deploy", "deploys it"),
    ):
        yield f"  {command_line(name, path):50}  # {what}"
