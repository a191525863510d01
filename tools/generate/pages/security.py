"""Write who reaches what, and the roles of the default deployment, into docs/security.md."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

import yaml

from tools.generate import REPOSITORY
from tools.generate.marks import with_part
from tools.generate.synthesis import DEFAULT, assembly
from tools.security.page import role_lines
from tools.security.reach import reach_lines
from tools.security.roles import read_reasons, read_roles

_PAGE = REPOSITORY / "docs" / "security.md"
_WITH_MORE = (
    "tests/support/every_field.yaml",
    "config/examples/existing-eks.yaml",
    "config/examples/managed-grafana.yaml",
)
"""Configurations that add every statement which the default one does without, but for scaling."""

_SLURM = REPOSITORY / "tests" / "support" / "every_slurm_field.yaml"


def render() -> Mapping[Path, str]:
    """Return the page with what the templates say."""
    with tempfile.TemporaryDirectory() as folder:
        scaling = Path(folder, "scaling.yaml")
        document = yaml.safe_load(DEFAULT.read_text("utf-8"))
        document["cluster"]["auto_scaling"] = "Karpenter"
        scaling.write_text(yaml.safe_dump(document), encoding="utf-8")
        # First: of statements with the same rights, the page has the reasons of EKS.
        configs = (_SLURM, DEFAULT, scaling, *(REPOSITORY / file for file in _WITH_MORE))
        assemblies = [assembly(config) for config in configs]
        reasons = read_reasons(assemblies)
    roles = read_roles(assembly())
    parts = {
        "reach": reach_lines(roles, reasons=reasons),
        "roles": role_lines(roles, reasons=reasons),
    }
    page = _PAGE.read_text("utf-8")
    for mark, lines in parts.items():
        page = with_part(page, mark=mark, text="".join(f"{line}\n" for line in lines))
    return {_PAGE: page}
