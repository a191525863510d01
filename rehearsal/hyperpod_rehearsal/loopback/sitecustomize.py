"""What Python imports first in the processes of a job: PyTorch's stores on the loopback interface.

Of themselves they listen on every interface, and whoever reaches one can run code in the job: what
torchrun's rendezvous reads there is a pickle. Here all workers are on this machine.
"""

import socket
from typing import Any

from torch import distributed

_HOST = "127.0.0.1"


class LoopbackStore(distributed.TCPStore):  # type: ignore[misc] # PyTorch is not there for mypy
    """A TCPStore that only this machine reaches."""

    def __init__(
        self,
        host_name: str,  # noqa: ARG002 - this machine's
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        **options: Any,
    ) -> None:
        if is_master:
            try:
                server = socket.create_server((_HOST, port))
            except OSError as error:
                # As TCPStore says that another worker is first.
                raise distributed.DistNetworkError(str(error)) from error
            port = server.getsockname()[1]
            options["master_listen_fd"] = server.detach()
        super().__init__(_HOST, port, world_size, is_master, **options)


distributed.TCPStore = LoopbackStore
