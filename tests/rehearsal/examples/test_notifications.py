"""config/examples/observability.yaml, and what its readers are told."""

import json

from hyperpod_rehearsal.report import Report
from hyperpod_rehearsal.run import play
from hyperpod_rehearsal.scenarios import SCENARIOS
from hyperpod_rehearsal.stage import Stage
from tests.support.scenario_tests import test_it_deploys_and_holds_what_is_verified

__all__ = ["test_it_deploys_and_holds_what_is_verified"]

EXAMPLES = ["observability"]


def test_a_faulty_node_is_told_in_forms_for_e_mail_and_slack(stage: Stage) -> None:
    report = Report(config=str(stage.config_path), scenario="node-replaced")

    play(SCENARIOS["node-replaced"], stage=stage, report=report)

    assert [(check.title, check.found) for check in report.verify if not check.ok] == []
    [line] = stage.environment.messages_file.read_text("utf-8").splitlines()
    told = json.loads(line)
    assert told["topic"] == stage.outputs()[stage.stack("observability")]["NotificationTopicArn"]
    assert told["attributes"] == {"kind": "node-faulty", "cause": "hardware", "group": "gpu"}
    forms = json.loads(told["message"])
    content = json.loads(forms["https"])["content"]
    assert content["title"] == told["subject"]
    assert forms["default"].startswith(content["description"].partition("\n")[0])
