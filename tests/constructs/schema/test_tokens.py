"""CDK tokens stand for texts that are not known yet: which fields take them, and which do not."""

import functools
from collections.abc import Iterator
from typing import Any

import aws_cdk as cdk
import pytest
import yaml
from aws_cdk import Aws

from hyperpod_cdk import (
    ConfigError,
    DataRepositoryConfig,
    HelmConfig,
    InstanceGroupConfig,
    NetworkConfig,
    StorageConfig,
    load_config,
)
from hyperpod_cdk.schema.errors import key_path
from hyperpod_cdk.schema.section import Section
from tests.support.configs import (
    CONFIG_FOLDER,
    EVERY_EXISTING_RESOURCE,
    EVERY_FIELD,
    EVERY_SLURM_FIELD,
    EXISTING_CONTROL_PLANE,
    configured,
    orchestrated_by,
)
from tests.support.refusals import lines_for

TOKEN = cdk.Token.as_string({"Fn::ImportValue": "AnotherStack"})
# Synthesis reads these: it computes with blocks and dates, opens the chart and
# folders of scripts, and picks by region.
READ_AT_SYNTHESIS = {
    "AutoPatchConfig.next_patch_date",
    "Config.region",
    "AccountingConfig.subnet_cidrs",
    "EksConfig.public_access_cidrs",
    "HelmConfig.chart",
    "LifecycleConfig.directory",
    "LifecycleScriptsConfig.directory",
    "HyperPodSubnetConfig.cidr",
    "NetworkConfig.eks_subnet_cidrs",
    "NetworkConfig.public_subnet_cidrs",
    "NetworkConfig.vpc_cidr",
    "NodeHealthConfig.script",
    "SlurmSetupConfig.users",
}


def sections(value: object) -> Iterator[Section]:
    """Yield every section in a value."""
    if isinstance(value, Section):
        yield value
        for name in type(value).model_fields:
            yield from sections(getattr(value, name))
    elif isinstance(value, tuple):
        for item in value:
            yield from sections(item)


SECTIONS = [
    *sections(load_config(EVERY_FIELD)),
    *sections(load_config(CONFIG_FOLDER / "default.yaml")),
    NetworkConfig(availability_zone_ids=("usw2-az1", "usw2-az2")),
    *sections(load_config(EVERY_EXISTING_RESOURCE)),
    *(
        each
        for path in [*orchestrated_by("slurm"), *EVERY_SLURM_FIELD]
        for each in sections(load_config(path))
    ),
    *sections(load_config(EXISTING_CONTROL_PLANE)),
    StorageConfig(backup_retention_days=1),
    DataRepositoryConfig(s3_uri="s3://bucket"),
    HelmConfig(),
]


@functools.cache
def json_schema(section: type[Section]) -> dict[str, Any]:
    """Return the JSON schema of a section."""
    return section.model_json_schema()


def with_token(section: Section, name: str) -> tuple[object, bool] | None:
    """Return the field with a token in place of each text, and whether its values are listed."""
    field = json_schema(type(section))["properties"][name]
    for kind in field.get("anyOf", [field]):
        item = kind.get("items", {})
        if kind.get("type") == "string":
            return TOKEN, not {"enum", "const"}.isdisjoint(kind)
        if kind.get("type") == "array" and item.get("type") == "string":
            count = max(1, len(getattr(section, name) or ()))
            return tuple(f"{TOKEN}{index}" for index in range(count)), "enum" in item
        if kind.get("additionalProperties", {}) == {"type": "string"}:
            return {TOKEN: TOKEN}, False
    return None


def texts() -> dict[str, list[tuple[Section, str, object, bool]]]:
    """Return every field of texts, by section and name, in each section that there is."""
    found: dict[str, list[tuple[Section, str, object, bool]]] = {}
    for section in SECTIONS:
        for name in type(section).model_fields:
            if (made := with_token(section, name)) is not None:
                key = f"{type(section).__name__}.{name}"
                found.setdefault(key, []).append((section, name, *made))
    return found


TEXTS = texts()
ENUMERATIONS = {key for key, uses in TEXTS.items() if uses[0][3]}


def refusals(key: str) -> list[tuple[str, ...]]:
    """Return the lines of refusing tokens in a field, one tuple a section; () where it is taken."""
    lines = []
    for section, name, value, _ in TEXTS[key]:
        values = {field: getattr(section, field) for field in section.model_fields_set}
        try:
            type(section)(**{**values, name: value})
        except ConfigError as error:
            lines.append(error.lines)
        else:
            lines.append(())
    return lines


@pytest.mark.parametrize("key", sorted(TEXTS.keys() - ENUMERATIONS - READ_AT_SYNTHESIS))
def test_names_ids_arns_and_uris_may_be_tokens(key: str) -> None:
    # In some sections another field excludes this one; in one of them it can be set.
    assert () in refusals(key)


@pytest.mark.parametrize("key", sorted(ENUMERATIONS | READ_AT_SYNTHESIS))
def test_listed_values_and_what_synthesis_reads_are_no_tokens(key: str) -> None:
    for lines in refusals(key):
        assert any(line.startswith(key) and "${Token[" in line for line in lines)


def test_the_table_covers_every_section_with_texts() -> None:
    schema = json_schema(type(SECTIONS[0]))
    with_texts = {
        f"{section}.{name}"
        for section, definition in schema["$defs"].items()
        for name, field in definition.get("properties", {}).items()
        if any(kind.get("type") == "string" for kind in field.get("anyOf", [field]))
    }
    assert with_texts - TEXTS.keys() == set()


def test_an_arn_may_hold_tokens_in_its_parts() -> None:
    role = f"arn:{Aws.PARTITION}:iam::{Aws.ACCOUNT_ID}:role/Nodes"
    plan = f"arn:{Aws.PARTITION}:sagemaker:{Aws.REGION}:{Aws.ACCOUNT_ID}:training-plan/p5"
    group = InstanceGroupConfig(
        name="g",
        instance_type="ml.p5.48xlarge",
        instance_count=1,
        execution_role_arn=role,
        training_plan_arn=plan,
    )

    config = configured({"cluster": {"instance_groups": [group], "role_arn": role}})

    assert config.cluster.instance_groups[0].execution_role_arn == role


def test_a_group_may_be_in_the_zone_of_a_subnet_that_is_a_token() -> None:
    network = {"availability_zone_ids": [TOKEN, "usw2-az2"]}
    subnets = [{"cidr": "10.1.0.0/16", "availability_zone_id": TOKEN}]
    group = {"name": "g", "instance_type": "ml.m5.large", "instance_count": 1}

    config = configured(
        {
            "network": {**network, "hyperpod_subnets": subnets},
            "cluster": {"instance_groups": [{**group, "availability_zone_id": TOKEN}]},
        }
    )

    assert config.network.hyperpod_zone_ids == (TOKEN,)


def test_a_file_holds_no_token() -> None:
    document = yaml.safe_load(EVERY_FIELD.read_text("utf-8"))
    places: list[str] = []

    def tokens(value: Any, path: tuple[str | int, ...] = ()) -> Any:  # noqa: ANN401 - any YAML
        if isinstance(value, dict):
            return {key: tokens(item, (*path, key)) for key, item in value.items()}
        if isinstance(value, list):
            return [tokens(item, (*path, index)) for index, item in enumerate(value)]
        if isinstance(value, str):
            places.append(key_path(path))
            return f"{value}{TOKEN}"
        return value

    lines = lines_for(tokens(document))

    assert [line.split(": ")[0] for line in lines] == places
    assert all("CDK token" in line for line in lines)


def test_a_key_of_a_file_is_no_token() -> None:
    document = {**yaml.safe_load(EVERY_FIELD.read_text("utf-8")), "tags": {TOKEN: "a"}}

    (line,) = lines_for(document)

    assert line.startswith("tags: ")
    assert "CDK token" in line
