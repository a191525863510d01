"""The alert manager of a workspace of Prometheus, which tells a topic of alarms."""

import json
from typing import Any

import yaml

# A group of nodes of which nothing is used has idle accelerators, too: one message of it.
_CAUSE, _CONSEQUENCES = "GroupIdle", ("GpusIdle", "NeuronCoresIdle")
_SUBJECT = "HyperPod: {{ .CommonLabels.alertname }}"
_LINES = (
    "{{ range .Alerts }}What happened: {{ .Annotations.summary }}{new}"
    "What it means, and what to do: {{ .Annotations.description }}{new}{new}{{ end }}"
    "Cluster {{ .CommonLabels.cluster_id }}."
)
_UNBROKEN = 10_000


def alert_manager(*, topic_arn: str, region: str, in_slack: bool) -> str:
    """Return the definition that makes an alarm one message, and one a day while it lasts.

    Amazon Q Developer in chat applications (Slack) takes messages in its own form alone; e-mails
    then have that form, too.

    https://docs.aws.amazon.com/prometheus/latest/userguide/AMP-alertmanager-receiver-config.html
    """
    config = {
        "route": {
            "receiver": "topic",
            "group_by": ["alertname", "cluster_id"],
            "group_wait": "1m",
            "group_interval": "5m",
            "repeat_interval": "24h",
        },
        "inhibit_rules": [
            {
                "source_matchers": [f'alertname="{_CAUSE}"'],
                "target_matchers": [f'alertname=~"{"|".join(_CONSEQUENCES)}"'],
                "equal": ["cluster_id"],
            }
        ],
        "receivers": [
            {
                "name": "topic",
                "sns_configs": [
                    {
                        "topic_arn": topic_arn,
                        "sigv4": {"region": region},
                        "send_resolved": False,
                        "subject": _SUBJECT,
                        "message": _in_slack() if in_slack else _LINES.replace("{new}", "\n"),
                        "attributes": {"kind": "alarm"},
                    }
                ],
            }
        ],
    }
    return _yaml({"alertmanager_config": _yaml(config)})


def _in_slack() -> str:
    # https://docs.aws.amazon.com/chatbot/latest/adminguide/custom-notifs.html
    content = {"textType": "client-markdown", "title": _SUBJECT, "description": "LINES"}
    form = json.dumps({"version": "1.0", "source": "custom", "content": content})
    return form.replace("LINES", _LINES.replace("{new}", r"\n"))


def _yaml(document: dict[str, Any]) -> str:
    return yaml.safe_dump(document, sort_keys=False, width=_UNBROKEN)
