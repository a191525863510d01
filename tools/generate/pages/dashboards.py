"""Write the panels and alarms into the page about them, as they are defined."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from hyperpod_cdk.panels.definition import PERIOD_MINUTES, Panel, Subject
from hyperpod_cdk.panels.subjects import SUBJECTS
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part

TARGET = REPOSITORY / "docs" / "dashboards.md"
_HOUR = 60


def render() -> Mapping[Path, str]:
    """Return the page with its tables."""
    page = with_part(TARGET.read_text("utf-8"), mark="panels", text="\n".join(_subjects()))
    rows = (
        _alarm(subject, panel)
        for subject in SUBJECTS.values()
        for panel in subject.panels
        if panel.alarm is not None
    )
    alarms = table(("alarm", "when", "by", "what to do"), rows)
    return {TARGET: with_part(page, mark="alarms", text=alarms)}


def _subjects() -> Iterator[str]:
    for subject in SUBJECTS.values():
        yield f"### {subject.title}\n"
        rows = (_panel(panel) for panel in subject.panels)
        yield table(("panel", "what", "why", "what to do", "metrics"), rows)


def _panel(panel: Panel) -> tuple[str, ...]:
    names = [metric.name for line in panel.cloudwatch for metric in line.metrics]
    shown = [f"`{name}`" for name in dict.fromkeys(names)]
    query = [] if panel.prometheus is None else [f"`{_in_table(panel.prometheus.text)}`"]
    sources = ", ".join(_source(each) for each in panel.sources)
    return (
        f"{panel.title} ({panel.unit.symbol})",
        panel.what,
        panel.why,
        panel.to_do,
        f"{'<br>'.join([*shown, *query])}<br>{sources}",
    )


def _source(text: str) -> str:
    """Return a link to a page, or to a repository of which a file is named behind it."""
    address, _, file = text.partition(": ")
    name = file.rpartition("/")[2] or address.split("/")[2]
    return f"[{name}]({address})"


def _alarm(subject: Subject, panel: Panel) -> tuple[str, ...]:
    alarm = panel.alarm
    assert alarm is not None  # noqa: S101 - asked before
    relation = "above" if alarm.is_above else "below"
    time = f"{alarm.minutes} minutes"
    if alarm.minutes % _HOUR == 0:
        hours = alarm.minutes // _HOUR
        time = "an hour" if hours == 1 else f"{hours} hours"
    if alarm.minutes == PERIOD_MINUTES:
        time = "five minutes"
    where = "CloudWatch" if subject.sender == "AWS" else "CloudWatch or Prometheus"
    when = f"{panel.title}: {relation} {alarm.threshold:g}{panel.unit.suffix} for {time}"
    return f"`{alarm.name}`", when, where, panel.to_do


def _in_table(query: str) -> str:
    return query.replace(",$cluster", "").replace("{$cluster}", "").replace("|", "\\|")
