"""What is known of the types of resources: what they cost, and how long they take."""

import json
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from hyperpod_cdk import load_config
from hyperpod_cdk.cost.charges import HOURS_A_MONTH, is_estimated
from hyperpod_cdk.cost.cost import cost
from hyperpod_cdk.effects.effect import StackState
from hyperpod_cli.inspect import cost as command
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES
from hyperpod_cli.plan import bill
from hyperpod_cli.terminal.console import rounded
from tests.conftest import Assemble
from tests.support.assembly import Assembly
from tests.support.commands import ran
from tests.support.configs import CONFIG_FOLDER, CONFIGS, REPOSITORY, configured

DAY = date(2026, 10, 6)
BILLED: Mapping[str, str | Mapping[str, str]] = {
    "AWS::APS::Workspace": "metrics in Prometheus",
    "AWS::CloudWatch::Alarm": "CloudWatch alarm metric",
    "AWS::CloudWatch::Dashboard": "CloudWatch dashboard",
    "AWS::CodeBuild::Project": "minutes of CodeBuild",
    "AWS::DynamoDB::Table": "DynamoDB",
    "AWS::EC2::EIP": "public IPv4 address",
    "AWS::EC2::NatGateway": "NAT gateway",
    "AWS::EC2::VPCEndpoint": {"Interface": "interface endpoint"},
    "AWS::ECR::Repository": "images in ECR",
    "AWS::EKS::Cluster": "EKS control plane",
    "AWS::FSx::FileSystem": {"LUSTRE": "FSx for Lustre", "OPENZFS": "FSx for OpenZFS"},
    "AWS::Grafana::Workspace": "Amazon Managed Grafana",
    "AWS::KMS::Key": "KMS key",
    "AWS::Lambda::Function": "Lambda, Step Functions",
    "AWS::Logs::LogGroup": "logs (",
    "AWS::RDS::DBInstance": "RDS for MariaDB",
    "AWS::Route53Resolver::FirewallDomainList": "DNS",
    "AWS::S3::Bucket": "S3",
    "AWS::StepFunctions::StateMachine": "Lambda, Step Functions",
}
"""Words of a charge, or of what a cost leaves out, by type, or by the kind of it; others are free.

SNS's messages are a few a fault; nodes are charges of their own.
"""
KINDS = {"AWS::EC2::VPCEndpoint": "VpcEndpointType", "AWS::FSx::FileSystem": "FileSystemType"}


def billed(assembly: Assembly) -> Iterator[tuple[str, str]]:
    """Yield the type of each resource that is billed, and the words that must name it."""
    for template in assembly.texts().values():
        for resource in json.loads(template)["Resources"].values():
            kind = resource["Type"]
            assert kind in RESOURCE_TYPES, (
                f"{kind}: add a row to cli/hyperpod_cli/inspect/resource_types.py, and run "
                "`make generate`"
            )
            known = BILLED.get(kind)
            if isinstance(known, Mapping):
                known = known.get(resource["Properties"].get(KINDS[kind]))
            if known is not None:
                yield kind, known


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_what_is_billed_is_a_charge_or_said_to_be_left_out(path: Path, assemble: Assemble) -> None:
    config = load_config(path)
    found = cost(config, region=None, day=DAY)
    named = "\n".join([*(charge.name for charge in found.standing), *found.left_out])

    missing = {name for name, words in billed(assemble(config)) if words not in named}
    assert not missing, "constructs/hyperpod_cdk/cost/cost.py does not name what is billed"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_month_of_templates_costs_what_the_configuration_does(
    path: Path, assemble: Assemble
) -> None:
    """In us-east-1, where most prices are known."""
    config = load_config(path)
    region = config.region or "us-east-1"
    states = [StackState(template=each) for each in assemble(config).templates().values()]
    found = cost(config, region=region, day=DAY)

    line = str(bill.month_change([], states, region=region, day=DAY))

    amounts, _, missing = line.rpartition("USD: ")[2].partition("; ")
    total = found.usd_a_month + found.usd_an_hour * HOURS_A_MONTH
    about = "about " if is_estimated([*found.standing, *found.nodes]) else ""
    assert amounts == f"0.00 -> {about}{rounded(total)}"
    unpriced = {each.name for each in found.nodes if each.usd is None}
    names = {each.name for each in config.cluster.all_groups}
    names |= {each.name for each in config.node_groups}
    assert unpriced == names & {*missing.rpartition(": ")[2].split(", ")}


def test_no_line_of_the_cost_is_wider_than_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    said = ran("cost", "--config", CONFIG_FOLDER / "default.yaml")
    assert max(map(len, said.out.splitlines())) <= 80


def test_it_lists_each_resource_with_its_price_and_the_totals(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    said = ran("cost", "--config", CONFIG_FOLDER / "default.yaml")
    assert (said.code, said.err) == (0, "")
    lines = said.out.splitlines()
    oldest = command.cost_here(load_config(CONFIG_FOLDER / "default.yaml")).oldest_price
    assert str(oldest) in lines[0]
    parts = {line[2:38].rstrip(): line[38:].split() for line in lines if line.startswith("  ")}
    assert parts["NAT gateway"] == ["65.70", "2", "x", "0.045", "an", "hour"]
    assert parts["FSx for Lustre, 250 MB/s/TiB"][:4] == ["252.00", "1,200", "x", "0.21"]
    group = ["about", "7.09", "1", "x", "7.09", "an", "hour", "an", "estimate:"]
    assert parts["worker-group-1, 1 x ml.g5.12xlarge"][: len(group)] == group
    assert lines[lines.index("An hour of the nodes:") + 3].split() == ["total", "about", "7.55"]
    assert any(line.startswith("Not included: EBS volumes") for line in lines)


def test_a_configuration_that_cannot_be_deployed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: ML\n")
    code, out, err = ran("cost", "--config", tmp_path / "bad.yaml")
    assert (code, out) == (2, "")
    assert err.startswith(f"{tmp_path}/bad.yaml")


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
    ("count", "region"),
    [
        (2, "us-west-2"),
        (1, "us-east-1"),
    ],
)
def test_the_one_line_names_what_is_not_counted(
    count: int, region: str, snapshot: SnapshotAssertion
) -> None:
    group = {"name": "g", "instance_type": "ml.p4d.24xlarge", "instance_count": count}
    network = {"availability_zone_ids": None, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]}
    changes = {"region": None, "network": network, "cluster": {"instance_groups": [group]}}
    config = configured({**changes, "eks": {"version": "1.34"}})
    assert command.summary(cost(config, region=region, day=DAY)) == snapshot


@pytest.mark.parametrize(
    "others",
    [
        pytest.param([], id="alone"),
        # A group without nodes makes the others no cheaper.
        pytest.param(
            [{"name": "none", "instance_type": "ml.p4d.24xlarge", "instance_count": 0}], id="other"
        ),
    ],
)
def test_nothing_known_is_unknown_and_not_0(
    others: list[dict[str, object]], snapshot: SnapshotAssertion
) -> None:
    group = {"name": "chips", "instance_type": "ml.trn2.48xlarge", "instance_count": 1}
    changes = {"cluster": {"instance_groups": [*others, group]}}
    found = cost(configured(changes), region=None, day=DAY)
    assert command.summary(found).partition(" nodes, ")[2] == snapshot
    total = [line.split() for line in command.lines(found, name="x") if "total" in line][-1]
    assert total == ["total", "unknown", "without", "chips"]


def test_the_page_shows_what_it_prints() -> None:
    page = (REPOSITORY / "docs" / "cost.md").read_text("utf-8")
    found = cost(load_config(CONFIG_FOLDER / "default.yaml"), region=None, day=DAY)
    shown = page.partition("<!-- cost -->\n```\n")[2].partition("```\n<!-- /cost -->")[0]
    assert shown.splitlines() == list(command.lines(found, name="config/default.yaml"))
