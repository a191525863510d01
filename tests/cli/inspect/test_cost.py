"""What `make cost` prints, and the one line of `make validate`."""

from datetime import date
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.cost import cost
from hyperpod_cli.inspect import cost as command
from tests.support.commands import run
from tests.support.configs import CONFIG_FOLDER, REPOSITORY, configured

DAY = date(2026, 10, 6)


def test_it_lists_each_resource_with_its_price_and_the_totals(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = run("cost", "--config", CONFIG_FOLDER / "default.yaml")
    said = capsys.readouterr()
    assert (code, said.err) == (0, "")
    lines = said.out.splitlines()
    oldest = command.cost_here(load_config(CONFIG_FOLDER / "default.yaml")).oldest_price
    assert lines[0].endswith(
        f"default.yaml in us-west-2, in USD: On-Demand list prices of {oldest} and later"
    )
    parts = {line[2:38].rstrip(): line[38:].split() for line in lines if line.startswith("  ")}
    assert parts["NAT gateway"] == ["65.70", "2", "x", "0.045", "an", "hour"]
    assert parts["FSx for Lustre, 250 MB/s/TiB"][:4] == ["252.00", "1,200", "x", "0.21"]
    assert parts["worker-group-1, 1 x ml.g5.12xlarge"][:4] == ["price", "not", "in", "the"]
    assert any(line.startswith("Not included: EBS volumes") for line in lines)


def test_a_configuration_that_cannot_be_deployed_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text("name: ML\n")
    assert run("cost", "--config", tmp_path / "bad.yaml") == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{tmp_path}/bad.yaml")


def test_the_region_of_the_environment_is_taken_where_there_is_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    config = configured({"region": None})
    assert command.cost_here(config).region == "us-east-1"
    monkeypatch.setenv("AWS_REGION", "")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    assert command.cost_here(config).region == "eu-west-1"
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    monkeypatch.setenv("AWS_PROFILE", "none-of-this-name")
    assert command.cost_here(config).region is None
    assert command.cost_here(configured({})).region == "us-west-2"


@pytest.mark.parametrize(
    ("count", "region", "said"),
    [
        (
            2,
            "us-west-2",
            "398.00 a month with or without nodes (763.00 from 2026-12-02 on: Kubernetes 1.34 is "
            "in extended support then), 51.82 an hour for nodes",
        ),
        (
            1,
            "us-east-1",
            "146.00 and more a month with or without nodes (511.00 from 2026-12-02 on: Kubernetes "
            "1.34 is in extended support then), 25.91 an hour for nodes. Not counted: "
            "FSx for Lustre (make cost says why)",
        ),
    ],
)
def test_the_one_line_names_what_is_not_counted(count: int, region: str, said: str) -> None:
    group = {"name": "g", "instance_type": "ml.p4d.24xlarge", "instance_count": count}
    network = {"availability_zone_ids": None, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]}
    changes = {"region": None, "network": network, "cluster": {"instance_groups": [group]}}
    found = cost(configured(changes), region=region, day=DAY)
    assert command.summary(found).endswith(said)


def test_nothing_known_is_unknown_and_not_0() -> None:
    config = load_config(CONFIG_FOLDER / "spot-dev.yaml")
    found = cost(config, region=None, day=DAY)
    assert "unknown an hour for nodes. Not counted: spot, system" in command.summary(found)
    assert any(line.split()[:2] == ["total", "unknown"] for line in command.lines(found, name="x"))


def test_a_group_without_nodes_makes_the_others_no_cheaper() -> None:
    groups = [
        {"name": "none", "instance_type": "ml.p4d.24xlarge", "instance_count": 0},
        {"name": "some", "instance_type": "ml.m5.2xlarge", "instance_count": 1},
    ]
    changes: dict[str, object] = {"cluster": {"instance_groups": groups}}
    found = cost(configured(changes), region=None, day=DAY)
    assert "unknown an hour for nodes. Not counted: some" in command.summary(found)
    total = [line.split() for line in command.lines(found, name="x") if "total" in line][-1]
    assert total == ["total", "unknown", "without", "some"]


def test_the_page_shows_what_it_prints() -> None:
    page = (REPOSITORY / "docs" / "cost.md").read_text("utf-8")
    found = cost(load_config(CONFIG_FOLDER / "default.yaml"), region=None, day=DAY)
    shown = page.partition("<!-- cost -->\n```\n")[2].partition("```\n<!-- /cost -->")[0]
    assert shown.splitlines() == list(command.lines(found, name="config/default.yaml"))
