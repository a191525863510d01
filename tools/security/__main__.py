"""`python -m tools.security cdk.out/default docs/security.md`."""

import argparse
import sys
from pathlib import Path

from tools.security.page import with_roles
from tools.security.roles import read_roles


def main() -> None:
    """Write the roles of a synthesized app into the page."""
    parser = argparse.ArgumentParser(prog="python -m tools.security", description=__doc__)
    parser.add_argument("assembly", type=Path, help="directory that `cdk synth` wrote")
    parser.add_argument("page", type=Path, help="page with the marks to write between")
    arguments = parser.parse_args()
    try:
        page = arguments.page.read_text(encoding="utf-8")
        written = with_roles(page, roles=read_roles(arguments.assembly))
        arguments.page.write_text(written, encoding="utf-8")
    except OSError as error:
        sys.exit(f"error: {error}; run `make synth` first")
    sys.stdout.write(f"wrote {arguments.page}\n")


if __name__ == "__main__":
    main()
