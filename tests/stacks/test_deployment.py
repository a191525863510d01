"""The stacks: outputs, options of the configuration, what lives how long."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hyperpod_cdk import Config, ConfigError
from hyperpod_cdk.checks import findings
from hyperpod_cdk.helm.chart import read_hyperpod_chart
from hyperpod_cdk.schema.errors import Severity
from hyperpod_stacks.deployment import add_stacks
from hyperpod_stacks.table import STACKS
from tests.conftest import Assemble, Configure
from tests.support.assembly import new_app
from tests.support.configs import TWO_SUBNETS
from tests.support.template_view import TemplateView

View = Callable[[Config, str], TemplateView]
GONE = {"delete_with_stack": True, "i_understand_all_files_are_deleted": True}


@pytest.fixture
def view(assemble: Assemble) -> View:
    """Return a function from a configuration and a stack's name to its template."""
    return lambda config, name: TemplateView(assemble(config).templates()[name])


def test_all_hyperpod_subnets_are_listed(configure: Configure, view: View) -> None:
    seen = view(configure({"network": TWO_SUBNETS}), "ml-platform")
    first, second = (
        {"Ref": seen.id("AWS::EC2::Subnet", CidrBlock=cidr)}
        for cidr in ("10.1.0.0/16", "10.2.0.0/16")
    )

    assert seen.outputs["PrivateSubnetId"]["Value"] == first
    assert seen.outputs["OutputPrivateSubnetIds"]["Value"] == {"Fn::Join": [",", [first, second]]}


def test_every_other_stack_depends_on_the_platform_alone(
    default_config: Config, assemble: Assemble
) -> None:
    assembly = assemble(default_config)
    stacks = assembly.templates().keys()

    depends = {name: stacks & set(assembly.artifact(name)["dependencies"]) for name in stacks}

    assert depends.pop("ml-platform") == set()
    assert {*map(frozenset, depends.values())} == {frozenset({"ml-platform"})}


def test_what_a_stack_follows_is_made_before_it() -> None:
    kinds = [*STACKS]
    late = [
        (kind, other)
        for kind, row in STACKS.items()
        for other in row.follows
        if kinds.index(other) > kinds.index(kind)
    ]
    assert not late


def test_a_protected_storage_stack_stops_a_destruction_before_the_addons(
    default_config: Config, assemble: Assemble
) -> None:
    manifest = json.loads((assemble(default_config).directory / "manifest.json").read_text())

    # The CLI destroys those that no other needs in this order.
    kinds = [name for name in manifest["artifacts"] if name in {"ml-storage", "ml-addons"}]
    assert kinds == ["ml-storage", "ml-addons"]


@pytest.mark.parametrize(
    ("storage", "protected", "on_deletion"),
    [
        pytest.param({}, True, "RetainExceptOnCreate", id="default"),
        pytest.param(GONE, False, "Delete", id="gone"),
    ],
)
def test_the_files_are_protected_unless_told_twice(
    *,
    configure: Configure,
    assemble: Assemble,
    view: View,
    storage: dict[str, Any],
    protected: bool,
    on_deletion: str,
) -> None:
    config = configure({"storage": storage})
    seen = view(config, "ml-storage")

    artifact = assemble(config).artifact("ml-storage")
    assert artifact["properties"]["terminationProtection"] is protected
    assert seen.resources[seen.id("AWS::FSx::FileSystem")]["DeletionPolicy"] == on_deletion


def test_no_storage_means_no_stack_and_no_driver(configure: Configure, assemble: Assemble) -> None:
    templates = assemble(configure({"storage": None})).templates()
    addons = TemplateView(templates["ml-addons"]).all("AWS::EKS::Addon")

    assert "ml-storage" not in templates
    assert [addon["AddonName"] for addon in addons] == ["coredns"]


@pytest.mark.parametrize(
    ("zones", "cidr"),
    [
        pytest.param(["usw2-az2", "usw2-az1"], "10.2.0.0/16", id="named"),
        pytest.param([None, None], "10.1.0.0/16", id="in-turn"),
    ],
)
def test_the_file_system_goes_into_the_zone_asked_for(
    configure: Configure, view: View, zones: list[str | None], cidr: str
) -> None:
    subnets = [
        {"cidr": cidr, "availability_zone_id": zone}
        for cidr, zone in zip(("10.1.0.0/16", "10.2.0.0/16"), zones, strict=True)
    ]
    config = configure(
        {
            "network": {"hyperpod_subnets": subnets},
            "storage": {"availability_zone_id": "usw2-az1"},
        }
    )
    platform, storage = view(config, "ml-platform"), view(config, "ml-storage")

    (subnet,) = storage.one("AWS::FSx::FileSystem")["SubnetIds"]
    published = platform.exported(subnet["Fn::ImportValue"])

    assert published == {"Ref": platform.id("AWS::EC2::Subnet", CidrBlock=cidr)}


def test_without_a_region_the_templates_name_none(configure: Configure, assemble: Assemble) -> None:
    network = {"availability_zone_ids": None, "hyperpod_subnets": [{"cidr": "10.1.0.0/16"}]}
    assembly = assemble(configure({"region": None, "network": network}))

    assert assembly.artifact("ml-platform")["environment"] == "aws://unknown-account/unknown-region"
    assert not [name for name, text in assembly.texts().items() if "us-west-2" in text]


@pytest.mark.parametrize(
    ("eks", "inside"),
    [
        pytest.param({}, False, id="open"),
        pytest.param({"endpoint_access": "public"}, False, id="public"),
        pytest.param({"endpoint_access": "private"}, True, id="private"),
        pytest.param({"public_access_cidrs": ["203.0.113.0/24"]}, True, id="restricted"),
    ],
)
def test_the_provisioner_is_where_it_reaches_the_kubernetes_api(
    configure: Configure, view: View, eks: dict[str, Any], inside: bool
) -> None:
    seen = view(configure({"eks": eks}), "ml-platform")
    placed = {
        function["Handler"]: "VpcConfig" in function
        for function in seen.all("AWS::Lambda::Function")
        if function["Handler"].startswith("provisioner.")
    }

    assert len(placed) == 2
    assert set(placed.values()) == {inside}


def test_each_warning_of_the_checks_is_shown_once(
    configure: Configure, chart: Path, tmp_path: Path
) -> None:
    group = {"name": "g", "instance_type": "ml.g5.12xlarge", "instance_count": 1}
    slow = {"threads_per_core": 1, "deep_health_checks": ["InstanceStress"]}
    config = configure(
        {"cluster": {"instance_groups": [{**group, **slow}]}, "eks": {"version": "1.30"}}
    )
    expected = {
        f"{finding} [ack: hyperpod-cdk:{finding.rule}]"
        for finding in findings(config)
        if finding.severity is Severity.WARNING
    }
    app = new_app(tmp_path)

    add_stacks(app, config=config, chart=read_hyperpod_chart(chart))

    shown = [
        str(entry.data)
        for construct in app.node.find_all()
        for entry in construct.node.metadata
        if entry.type == "aws:cdk:warning" and "hyperpod-cdk:" in str(entry.data)
    ]
    rules = {text.rpartition(":")[2].rstrip("]") for text in shown}
    assert rules >= {"threads_per_core", "kubernetes_version", "system_pods"}
    assert len(shown) == len(expected)
    assert set(shown) == expected


def test_a_configuration_made_in_python_is_refused_as_a_file_is(
    configure: Configure, chart: Path, tmp_path: Path
) -> None:
    group = {"name": "g", "instance_type": "ml.p5.48xlarge", "instance_count": 4}
    config = configure(
        {
            "network": {"hyperpod_subnets": [{"cidr": "10.1.0.0/24"}]},
            "cluster": {"instance_groups": [{**group, "threads_per_core": 1}]},
            "eks": {"version": "1.30"},
        }
    )
    app = new_app(tmp_path)

    with pytest.raises(ConfigError) as caught:
        add_stacks(app, config=config, chart=read_hyperpod_chart(chart))

    (line,) = caught.value.lines
    assert line.startswith("ml: network.hyperpod_subnets[0].cidr: '10.1.0.0/24' ")
    assert app.node.children == []
