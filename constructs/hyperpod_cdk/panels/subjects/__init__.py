"""What the panels are about: each file is a subject, found because it is here."""

from collections.abc import Iterator
from importlib.resources import files
from pathlib import PurePath

from pydantic import TypeAdapter

from hyperpod_cdk.facts import table_of
from hyperpod_cdk.panels.definition import Panel, Subject, Watched


def _subjects() -> Iterator[tuple[str, Subject]]:
    subject = TypeAdapter(Subject)
    for file in sorted(PurePath(each.name) for each in files(__package__).iterdir()):
        if file.suffix == ".yaml":
            yield file.stem, subject.validate_python(table_of(__package__, file.stem))


SUBJECTS: dict[str, Subject] = dict(_subjects())
"""Every subject by the name of its file."""


def shown(watched: Watched) -> Iterator[tuple[Subject, tuple[Panel, ...]]]:
    """Yield the subjects that CloudWatch shows, each with its panels."""
    for subject in SUBJECTS.values():
        panels = tuple(each for each in watched.panels_of(subject) if watched.lines_of(each))
        if panels and subject.sender in watched.sent:
            yield subject, panels


def alarm_metrics(watched: Watched) -> int:
    """Return the number of metrics that CloudWatch's alarms read, each of which is billed."""
    return sum(
        len(panel.cloudwatch[0].metrics) * len(watched.places_of(subject, panel))
        for subject, panels in shown(watched)
        for panel in panels
        if panel.alarm is not None
    )
