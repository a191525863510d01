"""Resources that create nothing, but wait until what exists is ready."""

from abc import ABC, abstractmethod
from typing import ClassVar

from provisioner.framework.request import DONE, Accepted, Progress, Request, text_property
from provisioner.framework.retry import Clock


class WaitingResource(ABC):
    """A resource that waits in Create and Update, and does nothing in Delete.

    Attributes:
        property_name: The property that names what is waited for.
        suffix: What follows that name in the physical id.
    """

    property_name: ClassVar[str]
    suffix: ClassVar[str]

    def on_event(self, request: Request, clock: Clock) -> Accepted:  # noqa: ARG002 - the protocol
        """Change nothing."""
        physical_id = f"{self._name(request)}/{self.suffix}"
        if request.type == "Delete":
            physical_id = request.physical_id or physical_id
        return Accepted(physical_id=physical_id)

    def is_complete(self, request: Request, clock: Clock) -> Progress:
        """Say whether it is ready; a Delete is done at once."""
        return DONE if request.type == "Delete" else self.progress(self._name(request), clock)

    @abstractmethod
    def progress(self, name: str, clock: Clock) -> Progress:
        """Say whether what has this name is ready, or raise why it will not be."""

    def _name(self, request: Request) -> str:
        return text_property(request.properties, self.property_name)
