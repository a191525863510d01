"""`python -m tools.generate`: write every generated file that is stale."""

import sys

from tools.generate import GROUPS, REPOSITORY, generators


def main() -> None:
    """Write the files, and say which have changed."""
    for group in GROUPS:
        for generator in generators(group):
            for path, text in generator.render().items():
                if not path.exists() or path.read_text(encoding="utf-8") != text:
                    path.write_text(text, encoding="utf-8")
                    sys.stdout.write(f"wrote {path.relative_to(REPOSITORY)}\n")


if __name__ == "__main__":
    main()
