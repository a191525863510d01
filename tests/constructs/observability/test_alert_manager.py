"""What an alert manager tells a topic."""

import json
import re
from typing import Any

import yaml

from hyperpod_cdk.observability.alert_manager import alert_manager
from hyperpod_cdk.panels.subjects import SUBJECTS

TOPIC = "arn:aws:sns:us-west-2:111122223333:told"
_ACTION = re.compile(r"{{.*?}}")


def _config(*, in_slack: bool = False) -> dict[str, Any]:
    """Return the alert manager's own configuration, which is a text in AWS's."""
    definition = alert_manager(topic_arn=TOPIC, region="us-west-2", in_slack=in_slack)
    found: dict[str, Any] = yaml.safe_load(yaml.safe_load(definition)["alertmanager_config"])
    return found


def test_an_alarm_is_told_once_and_not_its_end() -> None:
    config = _config()
    [receiver] = config["receivers"]
    [told] = receiver["sns_configs"]
    assert config["route"]["receiver"] == receiver["name"]
    assert (told["topic_arn"], told["sigv4"]["region"]) == (TOPIC, "us-west-2")
    assert told["send_resolved"] is False
    assert config["route"]["repeat_interval"] == "24h"


def test_idle_groups_are_told_and_not_that_their_gpus_are_idle() -> None:
    alarms = {
        panel.alarm.name
        for subject in SUBJECTS.values()
        for panel in subject.panels
        if panel.alarm is not None
    }
    [rule] = _config()["inhibit_rules"]
    named = {*re.findall(r"\w+", " ".join(rule["source_matchers"] + rule["target_matchers"]))}
    assert named - {"alertname"} <= alarms


def test_slack_gets_the_form_that_it_takes() -> None:
    [told] = _config(in_slack=True)["receivers"][0]["sns_configs"]
    form = json.loads(_ACTION.sub("text", told["message"]))
    assert (form["version"], form["source"]) == ("1.0", "custom")
    assert "\n" in form["content"]["description"]
    # What is put in would end the text.
    texts = [panel.description + panel.title for s in SUBJECTS.values() for panel in s.panels]
    assert not [text for text in texts if '"' in text or "\\" in text]
