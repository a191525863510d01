"""What the provisioner, `hyperpod-cdk record` and the replay call a recording of calls of AWS."""

from typing import Final

VARIABLE: Final = "RECORD_CALLS"
"""The functions' environment variable with which they record, whatever its value."""
RECORDED: Final = "recorded"
"""Message of the log line of a call."""
ENTRY_POINTS: Final = ("on_event", "is_complete")
"""Messages of the log lines with which the functions begin, and say for whom."""
