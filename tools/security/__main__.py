"""`python -m tools.security cdk.out/default docs/security.md`."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

from app import main as synthesize
from tools.security.page import with_roles
from tools.security.roles import read_reasons, read_roles

_DEFAULT = Path("config/default.yaml")
_WITH_MORE = (Path("tests/support/every_field.yaml"), Path("config/examples/existing-eks.yaml"))
"""Configurations that add every statement which the default one does without, but for scaling."""


def main() -> None:
    """Write the roles of a synthesized app into the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.security", description=__doc__)
    parser.add_argument("assembly", type=Path, help="directory that `cdk synth` wrote")
    parser.add_argument("page", type=Path, help="page with the marks to write between")
    arguments = parser.parse_args()
    assembly, page = arguments.assembly.absolute(), arguments.page.absolute()
    try:
        roles = read_roles(assembly)
        with TemporaryDirectory() as directory:
            reasons = read_reasons([assembly, *_synthesized(Path(directory))])
        written = with_roles(page.read_text(encoding="utf-8"), roles=roles, reasons=reasons)
        page.write_text(written, encoding="utf-8")
    except OSError as error:
        sys.exit(f"error: {error}; run `make synth` first")
    sys.stdout.write(f"wrote {page}\n")


def _synthesized(directory: Path) -> Iterator[Path]:
    """Synthesize what adds statements; yield the assemblies."""
    scaling = yaml.safe_load(_DEFAULT.read_text("utf-8"))
    scaling["cluster"]["auto_scaling"] = "Karpenter"
    written = directory / "scaling.yaml"
    written.write_text(yaml.safe_dump(scaling), encoding="utf-8")
    for config in (written, *_WITH_MORE):
        assembly = directory / f"{config.stem}.out"
        if synthesize(config=config, output=assembly) == 0:
            yield assembly


if __name__ == "__main__":
    main()
