"""The recording and alerting rules of Prometheus, as it reads them from a file."""

from collections.abc import Iterator
from typing import Any

import yaml

from hyperpod_cdk.panels.definition import Alarm, Panel, Watched
from hyperpod_cdk.panels.shares import SHARES, by_team
from hyperpod_cdk.panels.subjects import SUBJECTS

# What HyperPod's nodes say, and what those of EKS node groups do.
_LABELS = {
    "instance_type": ("node_kubernetes_io_instance_type",),
    "instance_group": (
        "sagemaker_amazonaws_com_instance_group_name",
        "eks_amazonaws_com_nodegroup",
    ),
}


def rules(watched: Watched) -> str:
    """Return the rules of a deployment as a file in YAML.

    Rules read every cluster that writes into a workspace; what they say names it by `cluster_id`.
    An alarm that CloudWatch has is not among them, so that no one is told twice.
    """
    groups = [{"name": "hyperpod-cost", "rules": [*_cost(watched)]}]
    alerts = [*_alerts(watched)]
    if alerts:
        groups.append({"name": "hyperpod-alarms", "rules": alerts})
    return yaml.safe_dump({"groups": groups}, sort_keys=False, width=100, allow_unicode=True)


def filled(query: str, *, matcher: str = "") -> str:
    """Return a panel's query as Prometheus takes it, of the clusters of a matcher or of all."""
    query = query.replace("$shares_of_teams", by_team(SHARES))
    text = query.replace(",$cluster", f",{matcher}" if matcher else "")
    return text.replace("{$cluster}", f"{{{matcher}}}" if matcher else "")


def _cost(watched: Watched) -> Iterator[dict[str, Any]]:
    for instance_type, usd in watched.prices.items():
        yield {
            "record": "hyperpod:price_dollars_per_hour",
            "expr": f"vector({usd})",
            "labels": {"instance_type": instance_type},
        }
    named = "kubelet_node_name"
    for label, of_node in ((label, each) for label, all_ in _LABELS.items() for each in all_):
        named = f'label_replace({named}, "{label}", "$1", "{of_node}", "(.+)")'
    # Rules of a group are evaluated in turn: the prices are there.
    yield {
        "record": "hyperpod:node_dollars_per_hour",
        "expr": (
            f"max by (cluster_id, node, {', '.join(_LABELS)}) ({named} "
            "* on (instance_type) group_left () hyperpod:price_dollars_per_hour)"
        ),
    }


def _alerts(watched: Watched) -> Iterator[dict[str, Any]]:
    for name, subject in SUBJECTS.items():
        for panel in watched.panels_of(subject):
            is_here = not panel.cloudwatch or subject.sender not in watched.sent
            if panel.alarm is not None and panel.promql and is_here:
                yield _alert(panel, panel.alarm, subject=name)


def _alert(panel: Panel, alarm: Alarm, *, subject: str) -> dict[str, Any]:
    relation = ">" if alarm.is_above else "<"
    # Grafana's way to name a label, and Prometheus's.
    which = panel.line_name.replace("{{", "{{ $labels.").replace("}}", " }}")
    where = f" of {which}" if which != panel.line_name else ""
    return {
        "alert": alarm.name,
        "expr": f"({filled(panel.promql)}) {relation} {alarm.threshold:g}",
        "for": f"{alarm.minutes}m",
        "labels": {"subject": subject},
        "annotations": {
            "summary": f"{panel.title}{where}: {{{{ $value | humanize }}}}{panel.suffix}",
            "description": panel.description,
        },
    }
