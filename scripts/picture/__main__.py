"""`python -m scripts.picture cdk.out/default docs/architecture.svg`."""

import argparse
import sys
from pathlib import Path

from scripts.picture.architecture import architecture
from scripts.picture.existing import with_existing
from scripts.picture.svg import draw
from scripts.picture.templates import read_stacks, read_templates


def picture(assembly: Path) -> str:
    """Return the picture of what was synthesized into a directory.

    Raises:
        OSError: The directory has no synthesized app.
    """
    stacks = with_existing(read_stacks(assembly), templates=read_templates(assembly))
    return draw(architecture(stacks), title="HyperPod on EKS")


def main() -> None:
    """Draw the picture."""
    parser = argparse.ArgumentParser(prog="python -m scripts.picture", description=__doc__)
    parser.add_argument("assembly", type=Path, help="directory that `cdk synth` wrote")
    parser.add_argument("target", type=Path, help="SVG file to write")
    arguments = parser.parse_args()
    try:
        arguments.target.write_text(picture(arguments.assembly), encoding="utf-8")
    except OSError as error:
        sys.exit(f"error: {error}; run `make synth` first")
    sys.stdout.write(f"wrote {arguments.target}\n")


if __name__ == "__main__":
    main()
