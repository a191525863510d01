"""Structured log lines: one JSON object a line, without credentials.

Only named facts are logged, never an event: it carries the ResponseURL, which is a credential,
and chart values, which may hold secrets.
"""

import json
import logging
import sys

from hyperpod_shared.redaction import redacted


class _JsonFormatter(logging.Formatter):
    """Formats a record as JSON: level, message and its facts."""

    def format(self, record: logging.LogRecord) -> str:
        facts: dict[str, object] = getattr(record, "facts", {})
        line = {"level": record.levelname, "message": record.getMessage(), **facts}
        return redacted(json.dumps(line, default=str, ensure_ascii=False))


class _StandardOutput(logging.StreamHandler):  # type: ignore[type-arg]  # generic only in stubs
    """Writes to the standard output of the moment, because Lambda replaces it."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stdout
        super().emit(record)


_logger = logging.getLogger("provisioner")
if not _logger.handlers:
    _handler = _StandardOutput()
    _handler.setFormatter(_JsonFormatter())
    _logger.addHandler(_handler)
    _logger.setLevel(logging.INFO)
    _logger.propagate = False


def info(message: str, **facts: object) -> None:
    """Log something that happened, with facts about it."""
    _logger.info(message, extra={"facts": facts})


def warning(message: str, **facts: object) -> None:
    """Log something that explains a failed deployment."""
    _logger.warning(message, extra={"facts": facts})
