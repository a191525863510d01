"""Write what each command of the operating wing calls into docs/operating.md.

Run it after changing a command: `python -m tools.generate.command_permissions`.
"""

import sys
from pathlib import Path

from hyperpod_cli.commands import commands

TARGET = Path(__file__).parents[2] / "docs" / "operating.md"
_BEGIN, _END = "<!-- permissions -->\n", "<!-- end of permissions -->"


def render(page: str) -> str:
    """Return the page with the table as the commands give it."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    rows = "".join(
        f"| `{each.name}` | {', '.join(f'`{action}`' for action in each.calls)} | "
        f"{each.in_kubernetes} |\n"
        for each in commands().values()
        if each.wing == "operate"
    )
    heads = "| command | IAM actions | in Kubernetes |\n|---|---|---|\n"
    return f"{before}{_BEGIN}{heads}{rows}{_END}{after}"


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
