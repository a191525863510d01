"""Write the roles of the default deployment into docs/security.md, and the findings that stay."""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import yaml

from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part
from tools.generate.synthesis import DEFAULT, assembly
from tools.security.page import role_lines
from tools.security.roles import read_findings, read_reasons, read_roles

_PAGE = REPOSITORY / "docs" / "security.md"
_WITH_MORE = (
    "tests/support/every_field.yaml",
    "config/examples/existing-eks.yaml",
    "config/examples/managed-grafana.yaml",
)
"""Configurations that add every statement which the default one does without, but for scaling."""


def render() -> Mapping[Path, str]:
    """Return the page with the roles as the templates have them."""
    with tempfile.TemporaryDirectory() as folder:
        scaling = Path(folder, "scaling.yaml")
        document = yaml.safe_load(DEFAULT.read_text("utf-8"))
        document["cluster"]["auto_scaling"] = "Karpenter"
        scaling.write_text(yaml.safe_dump(document), encoding="utf-8")
        configs = (DEFAULT, scaling, *(REPOSITORY / file for file in _WITH_MORE))
        assemblies = [assembly(config) for config in configs]
        reasons, findings = read_reasons(assemblies), read_findings(assemblies)
    page = with_part(_PAGE.read_text("utf-8"), mark="findings", text=_findings_table(findings))
    lines = role_lines(read_roles(assembly()), reasons=reasons)
    return {_PAGE: with_part(page, mark="roles", text="".join(f"{line}\n" for line in lines))}


def _findings_table(findings: Mapping[str, Iterable[str]]) -> str:
    """Return the table of accepted findings: their names, by why they are accepted."""
    rows = ((", ".join(f"`{each}`" for each in sorted(ids)), why) for why, ids in findings.items())
    return table(("finding", "why it stays"), sorted(rows))
