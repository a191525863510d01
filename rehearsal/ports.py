"""Free TCP ports on the loopback interface."""

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """Return a port nobody listens on.

    The port is not held: another process may take it before its user binds it, so who starts a
    server on it must be ready to start over with another. Prefer binding port 0 where possible.
    """
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
