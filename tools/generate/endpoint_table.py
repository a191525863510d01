"""Write the VPC endpoints of a closed network into the page about it.

Run it after changing `network/endpoint_services.py`: `python -m tools.generate.endpoint_table`.
"""

import sys
from pathlib import Path

from hyperpod_cdk.network.endpoint_services import ENDPOINT_SERVICES, EndpointService

TARGET = Path(__file__).parents[2] / "docs" / "closed-network.md"
_BEGIN, _END = "<!-- endpoints -->\n", "<!-- end of endpoints -->"


def render(page: str) -> str:
    """Return the page with the table as the services give it."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    rows = "".join(f"{_row(service)}\n" for service in ENDPOINT_SERVICES)
    heads = "| service | who calls it | what for | source | lets through |\n|---|---|---|---|---|\n"
    return f"{before}{_BEGIN}{heads}{rows}{_END}{after}"


def _row(service: EndpointService) -> str:
    cells = (
        f"`{service.name}`{' (with a file system)' if service.for_storage else ''}",
        ", ".join(service.users),
        service.why,
        service.source if service.source.startswith("https://") else f"`{service.source}`",
        ", ".join(f"`{action}`" for action in service.actions),
    )
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
