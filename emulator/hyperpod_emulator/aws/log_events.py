"""What CloudWatch Logs selects of the events of a group, and MiniStack does not."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from hyperpod_emulator.aws.ministack import Response, cloudwatch_logs, wrap

_FIELD = re.compile(r'\{ *\$\.(\w+) *= *"([^"]*)" *\}')
Matcher = Callable[[str], bool]


def install() -> None:
    """Select streams by their prefix, and JSON by a field.

    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_FilterLogEvents.html
    https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/FilterAndPatternSyntax.html
    """

    def of_prefix(events: Callable[..., Response], request: Mapping[str, Any]) -> Response:
        prefix = request.get("logStreamNamePrefix")
        if prefix is None:
            return events(request)
        group = cloudwatch_logs._log_groups.get(request.get("logGroupName"), {})
        # None would be taken for all.
        names = [name for name in group.get("streams", ()) if name.startswith(prefix)] or [prefix]
        return events({**request, "logStreamNames": names})

    def of_field(matcher: Callable[[str], Matcher], pattern: str) -> Matcher:
        field = _FIELD.fullmatch(pattern.strip())
        if field is None:
            return matcher(pattern)
        name, value = field.groups()

        def matches(message: str) -> bool:
            try:
                record = json.loads(message)
            except ValueError:
                return False
            return isinstance(record, dict) and record.get(name) == value

        return matches

    wrap(cloudwatch_logs, "_filter_log_events", of_prefix)
    wrap(cloudwatch_logs, "_compile_filter_pattern", of_field)
