"""Alarms of CloudWatch over several metrics, which MiniStack has none of; nothing is measured.

What AWS refuses of them is refused:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hyperpod_emulator.aws.cloudformation.resource_type import Created, Properties
from hyperpod_emulator.aws.ministack import provisioners, wrap

_TYPE = "AWS::CloudWatch::Alarm"
_MOST_METRICS, _DAY_SECONDS = 10, 24 * 60 * 60
_ID = re.compile(r"[a-z][a-zA-Z0-9_]*")
_WORD = re.compile(r"\b[a-z]\w*\b")


def install() -> None:
    """Have alarms over several metrics created and changed as those of one metric are."""

    def handle(handler: Callable[..., Created], name: str, *rest: Any) -> Created:
        return handler(name, *(_of_one_metric(x) if isinstance(x, Mapping) else x for x in rest))

    for operation in ("create", "update"):
        wrap(provisioners._RESOURCE_HANDLERS[_TYPE], operation, handle)


def _of_one_metric(properties: Properties) -> Properties:
    """Return an alarm's properties as MiniStack takes them: of the first of its metrics."""
    metrics: Sequence[Mapping[str, Any]] = properties.get("Metrics") or ()
    if not metrics:
        return properties
    read = [each["MetricStat"] for each in metrics if "MetricStat" in each]
    _refuse(metrics, read, periods=int(properties["EvaluationPeriods"]))
    first = read[0]
    return {
        **{key: value for key, value in properties.items() if key != "Metrics"},
        "MetricName": first["Metric"]["MetricName"],
        "Namespace": first["Metric"]["Namespace"],
        "Dimensions": first["Metric"].get("Dimensions", []),
        "Statistic": first["Stat"],
        "Period": first["Period"],
    }


def _refuse(
    metrics: Sequence[Mapping[str, Any]], read: Sequence[Mapping[str, Any]], *, periods: int
) -> None:
    names = {each["Id"] for each in metrics}
    used = {
        word
        for each in metrics
        for word in _WORD.findall(each.get("Expression", ""))
        if not word.isupper()
    }
    # A metric of a query returns data unless it says otherwise.
    returned = [each for each in metrics if each.get("ReturnData", True) in (True, "true")]
    wrong = (
        ("Metrics must read at least one metric", not read),
        ("Exactly one element of the metrics list should return data.", len(returned) != 1),
        (f"Metrics list must have at most {_MOST_METRICS} metrics", len(read) > _MOST_METRICS),
        ("SEARCH is not supported in an alarm", "SEARCH" in str(metrics)),
        ("Id must begin with a lower-case letter", not all(map(_ID.fullmatch, names))),
        (f"Undefined variables in the expression: {sorted(used - names)}", bool(used - names)),
        (
            "Metrics cannot be checked across more than a day",
            max((int(each["Period"]) for each in read), default=0) * periods > _DAY_SECONDS,
        ),
    )
    for message, holds in wrong:
        if holds:
            raise ValueError(f"ValidationError: {message}")
