"""Write the VPC endpoints of a closed network into the page about it.

They are those of `network/endpoint_services.py`.
"""

from collections.abc import Mapping
from pathlib import Path

from hyperpod_cdk.network.endpoint_services import ENDPOINT_SERVICES, NEEDS, EndpointService
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "closed-network.md"


def render() -> Mapping[Path, str]:
    """Return the page with the table as the services give it."""
    heads = ("service", "who calls it", "what for", "source", "lets through")
    endpoints = table(heads, map(_cells, ENDPOINT_SERVICES))
    return {TARGET: with_part(TARGET.read_text("utf-8"), mark="endpoints", text=endpoints)}


def _cells(service: EndpointService) -> tuple[str, ...]:
    needs = (f"({need})" for name, need in NEEDS.items() if getattr(service, name))
    return (
        " ".join((f"`{service.name}`", *needs)),
        ", ".join(service.users),
        service.why,
        service.source if service.source.startswith("https://") else f"`{service.source}`",
        ", ".join(f"`{action}`" for action in service.actions),
    )
