"""Write docs/messages.md: each message that a user may read, and what to do.

Run it after changing a message: `python -m tools.generate.messages`.
"""

import sys

from tools.generate.messages.page import TARGET, render


def main() -> int:
    """Write the file."""
    TARGET.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
