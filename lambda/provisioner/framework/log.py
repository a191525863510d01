"""Structured log lines: one JSON object a line, credentials taken out.

Only named facts are logged, never an event: it carries the ResponseURL, which is a credential,
and chart values, which may hold secrets.
"""

import json
import logging
import sys

from provisioner.framework.redaction import redacted

_logger = logging.getLogger("provisioner")


class _JsonFormatter(logging.Formatter):
    """Formats a record as JSON with its facts beside the message."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, object] = getattr(record, "facts", {})
        line = {"level": record.levelname, "message": record.getMessage(), **facts}
        return redacted(json.dumps(line, default=str, ensure_ascii=False))


class _StandardOutput(logging.StreamHandler):  # type: ignore[type-arg]  # generic only in stubs
    """Writes to whatever standard output is at the time, as Lambda runtimes replace it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stdout
        super().emit(record)


def _configured() -> logging.Logger:
    if not _logger.handlers:
        handler = _StandardOutput()
        handler.setFormatter(_JsonFormatter())
        _logger.addHandler(handler)
        _logger.setLevel(logging.INFO)
        _logger.propagate = False
    return _logger


def info(message: str, **facts: object) -> None:
    """Log something that happened, with facts about it."""
    _configured().info(message, extra={"facts": facts})


def warning(message: str, **facts: object) -> None:
    """Log something that a reader of a failed deployment should look at."""
    _configured().warning(message, extra={"facts": facts})
