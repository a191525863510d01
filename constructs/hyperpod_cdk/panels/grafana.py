"""Grafana's dashboards, one for each subject, as its HTTP API takes them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hyperpod_cdk.panels.definition import (
    CONTAINER_INSIGHTS,
    PERIOD_MINUTES,
    Line,
    Panel,
    Subject,
    Watched,
)
from hyperpod_cdk.panels.rules import filled
from hyperpod_cdk.panels.subjects import SUBJECTS

_PROMETHEUS = {"type": "prometheus", "uid": "${prometheus}"}
_CLOUDWATCH = {"type": "cloudwatch", "uid": "${cloudwatch}"}
_CLUSTER = 'cluster_id=~"$cluster_id"'
# Grafana's grid has 24 columns.
_WIDTH, _HEIGHT, _COLUMNS = 12, 8, 2
# The model of a dashboard that every Grafana since version 10 reads, and migrates to its own.
# https://grafana.com/docs/grafana/latest/visualizations/dashboards/build-dashboards/view-dashboard-json-model/
_SCHEMA_VERSION = 39


def dashboards(watched: Watched) -> Mapping[str, dict[str, Any]]:
    """Return the dashboards of a deployment by the names of their subjects."""
    found = {name: (each, watched.panels_of(each)) for name, each in SUBJECTS.items()}
    return {
        name: _dashboard(watched, name=name, subject=subject, panels=panels)
        for name, (subject, panels) in found.items()
        if panels
    }


def reads_cloudwatch(watched: Watched) -> bool:
    """Say whether a dashboard shows metrics of CloudWatch, which those of file systems are."""
    panels = (panel for each in SUBJECTS.values() for panel in watched.panels_of(each))
    return any(not panel.promql for panel in panels)


def _dashboard(
    watched: Watched, *, name: str, subject: Subject, panels: Sequence[Panel]
) -> dict[str, Any]:
    return {
        # An import replaces the former one, and no dashboard of another deployment.
        "uid": f"hyperpod-{name}"[:40],
        "title": f"HyperPod: {subject.title}",
        "tags": ["hyperpod"],
        "timezone": "browser",
        "schemaVersion": _SCHEMA_VERSION,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": [*_variables(subject, panels)]},
        "panels": [
            _panel(watched, index=index, subject=subject, panel=panel)
            for index, panel in enumerate(panels)
        ],
    }


def _variables(subject: Subject, panels: Sequence[Panel]) -> Iterator[dict[str, Any]]:
    if any(panel.promql for panel in panels):
        yield {
            "name": "prometheus",
            "label": "Prometheus",
            "type": "datasource",
            "query": "prometheus",
        }
        yield {
            "name": "cluster_id",
            "label": "Cluster",
            "type": "query",
            "datasource": _PROMETHEUS,
            "query": {"query": "label_values(kubelet_node_name, cluster_id)", "refId": "cluster"},
            "refresh": 2,
            "includeAll": True,
            # Metrics of a Prometheus that gives them no such label are shown, too.
            "allValue": ".*",
            "current": {"text": "All", "value": "$__all"},
        }
    if any(not panel.promql for panel in panels):
        yield {
            "name": "cloudwatch",
            "label": "CloudWatch",
            "type": "datasource",
            "query": "cloudwatch",
        }
    if subject.sender == "AWS":
        metric = panels[0].cloudwatch[0].metrics[0]
        yield {
            "name": "file_system",
            "label": "File system",
            "type": "query",
            "datasource": _CLOUDWATCH,
            "query": f"dimension_values(default,{subject.namespace},{metric},FileSystemId)",
            "refresh": 2,
        }


def _panel(watched: Watched, *, index: int, subject: Subject, panel: Panel) -> dict[str, Any]:
    steps: list[dict[str, Any]] = [{"color": "green", "value": None}]
    if panel.alarm is not None and panel.alarm.is_above:
        steps.append({"color": "red", "value": panel.alarm.threshold})
    elif panel.alarm is not None:
        steps = [
            {"color": "red", "value": None},
            {"color": "green", "value": panel.alarm.threshold},
        ]
    if panel.promql:
        source, targets = _PROMETHEUS, [_prometheus(panel)]
    else:
        source = _CLOUDWATCH
        targets = [*_cloudwatch(watched, subject=subject, panel=panel)]
    row, column = divmod(index, _COLUMNS)
    return {
        "id": index + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.description,
        "datasource": source,
        "gridPos": {"x": column * _WIDTH, "y": row * _HEIGHT, "w": _WIDTH, "h": _HEIGHT},
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "thresholds": {"mode": "absolute", "steps": steps},
                "custom": {"thresholdsStyle": {"mode": "off" if panel.alarm is None else "dashed"}},
            },
            "overrides": [],
        },
        "options": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True}},
        "targets": targets,
    }


def _prometheus(panel: Panel) -> dict[str, Any]:
    return {
        "refId": "A",
        "datasource": _PROMETHEUS,
        "expr": filled(panel.promql, matcher=_CLUSTER),
        "legendFormat": panel.line_name,
        "range": True,
    }


def _cloudwatch(watched: Watched, *, subject: Subject, panel: Panel) -> Iterator[dict[str, Any]]:
    """Yield the metrics of each line, hidden where an expression shows what it makes of them."""
    letters = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    for number, line in enumerate(watched.lines_of(panel), start=1):
        for index, metric in enumerate(line.metrics, start=1):
            yield {
                **_target(next(letters), subject=subject),
                "id": f"l{number}m{index}",
                "metricName": metric,
                "statistic": line.statistic,
                "label": line.label,
                "hide": bool(line.expression),
            }
        if line.expression:
            yield {
                **_target(next(letters), subject=subject),
                "metricEditorMode": 1,
                "id": f"l{number}",
                "expression": _numbered(watched, line=line, number=number),
                "label": line.label,
            }


def _target(letter: str, *, subject: Subject) -> dict[str, Any]:
    by_file_system = {"FileSystemId": "$file_system"}
    return {
        "refId": letter,
        "datasource": _CLOUDWATCH,
        "queryMode": "Metrics",
        "metricQueryType": 0,
        "metricEditorMode": 0,
        "region": "default",
        "namespace": subject.namespace,
        "dimensions": {} if subject.namespace == CONTAINER_INSIGHTS else by_file_system,
        "matchExact": True,
        "period": str(60 * PERIOD_MINUTES),
    }


def _numbered(watched: Watched, *, line: Line, number: int) -> str:
    text = watched.filled(line.expression)
    for index in range(1, len(line.metrics) + 1):
        text = text.replace(f"m{index}", f"l{number}m{index}")
    return text
