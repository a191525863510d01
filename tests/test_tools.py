"""What maintainers run: generated files, prices, the page on security."""

import io
import json
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.error import URLError

import pytest
import yaml

from hyperpod_cdk import Config, load_config
from tests.conftest import Assemble, Configure
from tests.support.configs import CONFIG_FOLDER, EVERY_FIELD, EXISTING_CONTROL_PLANE
from tools import read_prices
from tools.generate import GROUPS, REPOSITORY, generators
from tools.generate.marks import with_part
from tools.generate.pages import every_field
from tools.read_prices import PriceListError, merged, prices, rendered
from tools.security.page import ROLES, role_lines
from tools.security.roles import Reason, Role, StatementKey, read_reasons, read_roles

GENERATORS = [module for group in GROUPS for module in generators(group)]


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda module: module.__name__)
def test_generated_files_are_fresh(generator: ModuleType) -> None:
    files = generator.render()

    assert files
    for path, text in files.items():
        stale = f"{path.relative_to(REPOSITORY)} is stale: run `make generate`"
        assert path.read_text("utf-8") == text, stale


def test_a_part_of_a_page_is_replaced() -> None:
    page = "before\n<!-- a -->\nold\n<!-- /a -->\nafter\n"

    assert with_part(page, mark="a", text="new\n") == page.replace("old", "new")


@pytest.mark.parametrize("page", ["", "<!-- a -->\n", "<!-- /a -->\n"])
def test_a_page_without_its_marks_is_refused(page: str) -> None:
    with pytest.raises(ValueError, match="no <!-- a --> … <!-- /a --> in the page"):
        with_part(page, mark="a", text="new")


def test_a_key_without_a_value_gets_an_example(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = ("\n  cluster_name:", "\n  tiered_storage:", "\n      labels:", "\ntags:")
    text = every_field.TARGET.read_text("utf-8")
    for key in lost:
        before, _, after = text.partition(key)
        text = before + after[after.index("\n") :]
    monkeypatch.setattr(every_field, "TARGET", tmp_path / "every_field.yaml")
    every_field.TARGET.write_text(text)

    (found,) = map(yaml.safe_load, every_field.render().values())

    assert found["eks"]["cluster_name"] == "another"
    assert found["cluster"]["tiered_storage"]["mode"] == "Enable"
    assert found["cluster"]["instance_groups"][0]["labels"] == {"example.com/team": "other"}
    assert found["tags"] == {"team": "other"}


DAY = date(2026, 11, 1)
# A price list has these beside each other: for clusters, for what is reserved, for other jobs.
USAGES = {
    "USW2-Cluster:ml.g5.12xlarge": "7.0900000000",
    "USW2-ReservedCluster:ml.g5.12xlarge": "5.0000000000",
    "USW2-Train:ml.g5.12xlarge": "6.0000000000",
    "USW2-Cluster:ml.none.large": "1.0000000000",
    "USW2-Cluster:VolumeUsage.gp2": "0.1400000000",
    "Cluster:ml.m5.2xlarge": "0.4610000000",
}


def offers(usages: dict[str, str]) -> dict[str, Any]:
    def terms(usd: str) -> dict[str, Any]:
        free = {"unit": "Hrs", "pricePerUnit": {"USD": "0.0000000000"}}
        paid = {"unit": "Hrs", "pricePerUnit": {"USD": usd}}
        return {"term": {"priceDimensions": {"free": free, "paid": paid}}}

    return {
        "products": {usage: {"attributes": {"usagetype": usage}} for usage in usages},
        "terms": {"OnDemand": {usage: terms(usd) for usage, usd in usages.items()}},
    }


def table() -> dict[str, Any]:
    text = read_prices.TABLE.read_text("utf-8")
    read: dict[str, Any] = json.loads(text, parse_float=Decimal)
    return read


def test_only_on_demand_instances_of_clusters_are_taken() -> None:
    assert prices(offers(USAGES)) == (
        {"ml.g5.12xlarge": Decimal("7.09"), "ml.m5.2xlarge": Decimal("0.461")},
        [],
    )


@pytest.mark.parametrize(
    "odd",
    [
        {"Cluster:ml.g5.xlarge": "1", "USE1-Cluster:ml.g5.xlarge": "2"},
        {"Cluster:ml.g5.xlarge": "0"},
    ],
)
def test_a_type_without_a_single_price_is_left_out(odd: dict[str, str]) -> None:
    found, unclear = prices(offers(USAGES | odd))
    assert found.keys() == {"ml.g5.12xlarge", "ml.m5.2xlarge"}
    assert unclear == ["ml.g5.xlarge"]


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({}, "is not a price list"),
        ({"products": []}, "is not a price list"),
        (offers({"Train:ml.g5.xlarge": "1"}), "has no single price of HyperPod"),
        (
            offers({"Cluster:ml.g5.xlarge": "1", "USE1-Cluster:ml.g5.xlarge": "2"}),
            "has no single price of ml.g5.xlarge",
        ),
        (offers({"Cluster:ml.g5.xlarge": "0"}), "has no single price of ml.g5.xlarge"),
    ],
)
def test_a_list_that_says_nothing_certain_is_refused(document: dict[str, Any], said: str) -> None:
    with pytest.raises(PriceListError, match=said):
        prices(document)


def test_the_table_is_written_as_it_is() -> None:
    assert rendered(table()) == read_prices.TABLE.read_text("utf-8")


def test_the_prices_of_one_region_are_replaced() -> None:
    former, (found, _) = table(), prices(offers(USAGES))
    new = merged(former, found, region="us-west-2", day=DAY)

    def of(document: dict[str, Any], *, replaced: bool) -> list[list[object]]:
        rows: list[list[object]] = document["prices"]
        return [row for row in rows if ((row[0], row[2]) == ("HyperPod", "us-west-2")) is replaced]

    assert of(new, replaced=False) == of(former, replaced=False)
    assert of(new, replaced=True) == [
        ["HyperPod", name, "us-west-2", usd, "hour", "2026-11-01", "price-list"]
        for name, usd in found.items()
    ]
    assert new["sources"]["price-list"] == read_prices.LIST
    assert new["sources"].keys() == {row[-1] for row in new["prices"]}
    assert merged(new, found, region="us-west-2", day=DAY) == new


Answer = Callable[..., Any]


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, *, config: Path, answer: Answer
) -> tuple[int, Path]:
    copy = folder / "prices.json"
    copy.write_text(read_prices.TABLE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(read_prices, "TABLE", copy)
    monkeypatch.setattr("urllib.request.urlopen", answer)
    monkeypatch.setattr("sys.argv", ["read_prices", "--config", str(config)])
    return read_prices.main(), copy


def test_the_list_of_the_configured_region_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    asked = []

    def answer(address: str, timeout: float) -> io.BytesIO:
        asked.append((address, timeout))
        odd = {"Cluster:ml.g5.xlarge": "0"}
        return io.BytesIO(json.dumps(offers(USAGES | odd)).encode())

    default = CONFIG_FOLDER / "default.yaml"
    code, copy = run(monkeypatch, tmp_path, config=default, answer=answer)
    assert (code, capsys.readouterr().out) == (
        0,
        "Wrote 2 prices of us-west-2 into prices.json\n"
        "Left out, since the list has no single price of it: ml.g5.xlarge\n",
    )
    assert asked == [(f"{read_prices.LIST}/current/us-west-2/index.json", 60)]
    assert '["HyperPod", "ml.g5.12xlarge", "us-west-2", 7.09, "hour", ' in copy.read_text("utf-8")


@pytest.mark.parametrize("content", [URLError("no route to host"), b"<html>"])
def test_without_the_list_the_table_stays(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    content: Exception | bytes,
) -> None:
    def answer(address: str, timeout: float) -> io.BytesIO:  # noqa: ARG001 - urlopen's
        if isinstance(content, Exception):
            raise content
        return io.BytesIO(content)

    default = CONFIG_FOLDER / "default.yaml"
    code, copy = run(monkeypatch, tmp_path, config=default, answer=answer)
    error = capsys.readouterr().err
    assert code == 2
    assert "/us-west-2/index.json: cannot be read: " in error
    assert error.count("\n") == 1
    assert copy.read_text("utf-8") == rendered(table())


def test_a_region_is_needed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / "mine.yaml"
    group = "{name: g, instance_type: ml.m5.2xlarge, instance_count: 1}"
    file.write_text(f"name: ml\ncluster: {{instance_groups: [{group}]}}\n")
    code, _ = run(monkeypatch, tmp_path, config=file, answer=lambda *_, **__: io.BytesIO())
    assert code == 2
    assert capsys.readouterr().err.startswith(f"{file}: names no region")


@pytest.fixture
def default_roles(default_config: Config, assemble: Assemble) -> list[Role]:
    return read_roles(assemble(default_config).directory)


@pytest.fixture
def assemblies(default_config: Config, configure: Configure, assemble: Assemble) -> list[Path]:
    existing = load_config(EXISTING_CONTROL_PLANE)
    scaling = configure({"cluster": {"auto_scaling": "Karpenter"}})
    configs = [default_config, load_config(EVERY_FIELD), existing, scaling]
    return [assemble(config).directory for config in configs]


@pytest.fixture
def reasons(assemblies: list[Path]) -> list[Reason]:
    return read_reasons(assemblies)


def test_a_statement_says_what_adds_it_if_the_default_deployment_does_without_it(
    default_roles: list[Role], assemblies: list[Path], reasons: list[Reason]
) -> None:
    always = _named(default_roles)
    by_any = _named(role for assembly in assemblies for role in read_roles(assembly))

    assert always == {each.key for each in reasons if each.added_by is None}
    assert by_any == {each.key for each in reasons}
    assert {role.name for role in default_roles} == ROLES.keys()


def _named(roles: Iterable[Role]) -> set[StatementKey]:
    """Return the statements that have names, which the CDK's own have not."""
    return {each.key for role in roles for each in role.statements if ":" not in each.name}


def test_rights_from_another_stack_are_the_roles(default_roles: list[Role]) -> None:
    (provisioner,) = (role for role in default_roles if role.name == "ProvisionerRole")

    assert {"UseCluster", "ManageCluster"} <= {item.name for item in provisioner.statements}
    assert [*provisioner.trust] == ["lambda.amazonaws.com"]


def test_a_role_without_a_title_is_not_passed_over(
    default_roles: list[Role], reasons: list[Reason]
) -> None:
    unknown = Role(
        name="Unknown", trust={"s3.amazonaws.com": {}}, managed_policies=(), statements=()
    )

    with pytest.raises(KeyError, match="Unknown"):
        [*role_lines([*default_roles, unknown], reasons=reasons)]
