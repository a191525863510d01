"""Write the VPC endpoints of a closed network into the page about it.

Run it after changing `network/endpoint_services.py`: `python -m tools.generate.endpoint_table`.
"""

import sys
from pathlib import Path

from hyperpod_cdk.network.endpoint_services import ENDPOINT_SERVICES, EndpointService
from tools.generate.tables import with_table

TARGET = Path(__file__).parents[2] / "docs" / "closed-network.md"


def render(page: str) -> str:
    """Return the page with the table as the services give it."""
    heads = ("service", "who calls it", "what for", "source", "lets through")
    return with_table(page, "endpoints", heads=heads, rows=map(_cells, ENDPOINT_SERVICES))


def _cells(service: EndpointService) -> tuple[str, ...]:
    return (
        f"`{service.name}`{' (with a file system)' if service.for_storage else ''}",
        ", ".join(service.users),
        service.why,
        service.source if service.source.startswith("https://") else f"`{service.source}`",
        ", ".join(f"`{action}`" for action in service.actions),
    )


if __name__ == "__main__":
    TARGET.write_text(render(TARGET.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {TARGET}\n")
