"""The parts of pages that the code tells: which mark of which page has which table."""

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from hyperpod_cdk.hyperpod.instance_group import InstanceGroupConfig
from hyperpod_cdk.network.endpoint_services import ENDPOINT_SERVICES, NEEDS, EndpointService
from hyperpod_cdk.node_groups.section import ManagedNodeGroupConfig
from hyperpod_cdk.panels.definition import PERIOD_MINUTES, Alarm, Panel, Subject
from hyperpod_cdk.panels.subjects import SUBJECTS as PANELS
from hyperpod_cdk.schema.section import OfHyperPod
from hyperpod_cli.commands import commands
from hyperpod_cli.inspect.preflight.run import VALIDATORS
from hyperpod_cli.inspect.verification.verify import SUBJECTS
from hyperpod_shared import failures, node_group_health
from tools.generate import REPOSITORY
from tools.generate.marks import table, with_part
from tools.generate.pages.config_reference import fields

_HOUR = 60
# The folder is no package: the function's own code begins in it.
_FUNCTIONS = str(REPOSITORY / "lambda")
_CAUSES = "hyperpod-cluster.md#when-it-fails"
_CAUSES_OF_NODE_GROUPS = "node-groups.md#when-a-node-group-fails"
_LOGS = {
    "log_group": "`/aws/sagemaker/Clusters/<cluster>/<id>`",
    "log_stream": "`LifecycleConfig/<group>/<instance>`",
}
_MESSAGE_VALUES = {
    "group": "group GROUP",
    "instance": "NODE",
    "cause": "CAUSE",
    "repair": "reboot or replacement",
}


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _endpoints() -> str:
    def cells(service: EndpointService) -> tuple[str, ...]:
        needed = " or ".join(", ".join(NEEDS[each] for each in service.needs).rsplit(", ", 1))
        return (
            f"`{service.name}`" + f" (with {needed})" * bool(needed),
            ", ".join(service.users),
            service.why,
            service.source if service.source.startswith("https://") else f"`{service.source}`",
            _code(service.actions),
        )

    heads = ("service", "who calls it", "what for", "source", "allows")
    return table(heads, map(cells, ENDPOINT_SERVICES))


def _permissions() -> str:
    return table(
        ("command", "IAM actions", "in Kubernetes"),
        (
            (f"`{each.name}`", _code(each.iam), each.in_kubernetes)
            for each in commands().values()
            if each.wing == "operate"
        ),
    )


def _validators() -> str:
    rows = ((name, each.summary, each.source) for name, each in VALIDATORS.items())
    return table(("validator", "blocked, or a warning (w)", "source"), rows)


def _subjects() -> str:
    def rows() -> Iterator[tuple[str, ...]]:
        for name, each in SUBJECTS.items():
            places = ("Kubernetes" * each.needs_kubernetes, "AWS" * bool(each.iam))
            yield name, each.summary, ", ".join(filter(None, places)), _code(sorted(each.iam))

    return table(("subject", "passes if", "reads", "IAM actions"), rows())


def _notifications() -> str:
    if _FUNCTIONS not in sys.path:
        sys.path.append(_FUNCTIONS)
    from notifier.decision import KINDS  # noqa: PLC0415 - it is found now

    def rows() -> Iterator[tuple[str, ...]]:
        for name, kind in KINDS.items():
            causes = _CAUSES_OF_NODE_GROUPS if name == "node-group-degraded" else _CAUSES
            to_do = kind.next_step or f"what [the cause]({causes}) says"
            subject, to_do = (text.format(**_MESSAGE_VALUES) for text in (kind.subject, to_do))
            yield f"`{name}`", kind.when, f"HyperPod CLUSTER: {subject}", to_do

    return table(("kind", "when", "subject", "what to do"), rows())


def _causes() -> str:
    rows = ((each.name, each.next_step.format(**_LOGS)) for each in failures.CAUSES)
    return table(("cause", "what to do"), rows)


def _causes_of_node_groups() -> str:
    heads = ("cause", "what to do", "for a group that exists")
    causes = node_group_health.CAUSES
    rows = ((each.name, each.next_step, each.once_there or "the same") for each in causes)
    return table(heads, rows)


def _hyperpod_keys() -> str:
    """Return the keys that are refused where there is no HyperPod cluster."""
    keys = (key for key, field in fields() if OfHyperPod() in field.metadata)
    return f"{_code(key for key in keys if not key.startswith('cluster.'))}.\n"


def _group_keys() -> str:
    theirs = InstanceGroupConfig.model_fields.keys() - ManagedNodeGroupConfig.model_fields.keys()
    return f"{_code(sorted(theirs))}.\n"


def _panels() -> str:
    rows = (
        (subject.title, ", ".join(panel.title for panel in subject.panels))
        for subject in PANELS.values()
    )
    return table(("dashboard", "panels"), rows)


def _alarms() -> str:
    rows = (
        _alarm(subject, panel, panel.alarm)
        for subject in PANELS.values()
        for panel in subject.panels
        if panel.alarm is not None
    )
    return table(("alarm", "when", "by", "what to do"), rows)


def _alarm(subject: Subject, panel: Panel, alarm: Alarm) -> tuple[str, ...]:
    relation = "above" if alarm.is_above else "below"
    time = f"{alarm.minutes} minutes"
    if alarm.minutes % _HOUR == 0:
        hours = alarm.minutes // _HOUR
        time = "an hour" if hours == 1 else f"{hours} hours"
    if alarm.minutes == PERIOD_MINUTES:
        time = "five minutes"
    where = "CloudWatch" if subject.sender == "AWS" else "CloudWatch or Prometheus"
    when = f"{panel.title}: {relation} {alarm.threshold:g}{panel.suffix} for {time}"
    return f"`{alarm.name}`", when, where, panel.to_do


_PARTS: Mapping[str, Mapping[str, Callable[[], str]]] = {
    "closed-network.md": {"endpoints": _endpoints},
    "dashboards.md": {"panels": _panels, "alarms": _alarms},
    "hyperpod-cluster.md": {"causes": _causes},
    "node-groups.md": {
        "causes": _causes_of_node_groups,
        "hyperpod-keys": _hyperpod_keys,
        "group-keys": _group_keys,
    },
    "observability.md": {"notifications": _notifications},
    "operating.md": {"permissions": _permissions},
    "preflight.md": {"validators": _validators},
    "verify.md": {"subjects": _subjects},
}


def render() -> Mapping[Path, str]:
    """Return the pages with their tables."""
    pages = {}
    for name, parts in _PARTS.items():
        path = REPOSITORY / "docs" / name
        pages[path] = path.read_text("utf-8")
        for mark, part in parts.items():
            pages[path] = with_part(pages[path], mark=mark, text=part())
    return pages
