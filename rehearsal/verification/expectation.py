"""What a command must print."""

from collections.abc import Callable

from rehearsal.report import Check
from rehearsal.verification.commands import ClusterTools


def expect(tools: ClusterTools, command: str, holds: Callable[[str], bool]) -> Check:
    """Run a command; it holds if it succeeds and `holds` returns true of what it prints."""
    succeeded, text = tools.run(command)
    return Check(check=command, ok=succeeded and holds(text))
