"""`make deploy` refuses a changed fixed value before it asks."""

from pathlib import Path

import pytest

from hyperpod_cli.aws.assembly import Stack
from hyperpod_cli.aws.session import AwsSession
from hyperpod_cli.aws.stacks import Deployed
from hyperpod_cli.deliver.deploy import deployment
from hyperpod_cli.stack_progress import terminal
from tests.support.commands import run

TEMPLATE = {
    "Resources": {},
    "Rules": {
        "CidrUnchanged": {
            "Assertions": [
                {
                    "Assert": {"Fn::Equals": [{"Ref": "Cidr"}, "10.2.0.0/16"]},
                    "AssertDescription": "network.cidr: '10.2.0.0/16' cannot be changed",
                }
            ]
        }
    },
}


def test_it_refuses_at_the_line_of_the_key(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    config = tmp_path / "mine.yaml"
    config.write_text("name: ml\nnetwork:\n  cidr: 10.2.0.0/16\n")
    stack = Stack(name="ml-platform", template=TEMPLATE, needs=())
    found = Deployed(
        status="CREATE_COMPLETE", template=TEMPLATE, parameters={"Cidr": "10.1.0.0/16"}
    )
    for name, value in {
        "load_config": None,
        "deployer_session": AwsSession(region="us-west-2"),
        "stacks_in": [stack],
        "deployed": found,
    }.items():
        monkeypatch.setattr(deployment, name, lambda *_, value=value, **__: value)
    monkeypatch.setattr(terminal, "raise_on_interrupts", lambda: None)
    assert run("deploy", "--templates", tmp_path, "--config", config) == 2
    assert capsys.readouterr().err.startswith(f"{config}:3: network.cidr: '10.2.0.0/16' cannot")
