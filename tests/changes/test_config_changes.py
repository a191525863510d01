"""What each change of a shipped configuration does on CloudFormation, as it was last reviewed.

`config_changes.json` has, for each key of the default configuration and each that another one
sets, the stacks' resources and what becomes of them: update, remove, replace or fail
(`consequences.py`). None takes a named resource or one that holds data, or fails in
CloudFormation's words alone: synthesis or the template's rules refuse it. `make generate` writes
the file anew; read the difference.
"""

import io
import itertools
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import redirect_stderr
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.helm.chart import HyperPodChartError
from hyperpod_cdk.schema.errors import ConfigError
from hyperpod_cli.inspect.resource_types import RESOURCE_TYPES
from tests.changes.alternatives import NO_OTHER_VALUE, Document, changes, is_set
from tests.changes.consequences import Outcome, consequences, worst
from tests.support.assembly import merged, synthesized
from tests.support.configs import (
    EVERY_EXISTING_RESOURCE,
    EXISTING_CONTROL_PLANE,
    REPOSITORY,
    SHIPPED,
)
from tools.json_text import json_text

REVIEWED = Path(__file__).with_name("config_changes.json")
CHART = REPOSITORY / "rehearsal" / "hyperpod_rehearsal" / "chart" / "hyperpod-helm-chart"
ADMINS = [f"arn:aws:iam::111122223333:role/{name}" for name in ("Alice", "Bob")]
# What no shipped configuration sets, though a running deployment may have it.
OPTIONS: dict[str, Any] = {
    "eks": {"admins": ADMINS, "deletion_protection": True},
    "lifecycle_scripts": {"writers": ADMINS[:1]},
    "encryption": {
        "kms_key_arn": "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    },
    "storage": {
        "data_repositories": [{"s3_uri": "s3://bucket/prefix"}],
        "dynamic_provisioning": True,
        "home_directories": {},
        "availability_zone_id": "usw2-az2",
    },
    "network": {
        "hyperpod_subnets": [
            {"cidr": "10.1.0.0/16", "availability_zone_id": "usw2-az2"},
            {"cidr": "10.2.0.0/16", "availability_zone_id": "usw2-az1"},
        ]
    },
}
# Their change makes other stacks, beside those that are there.
OTHER_STACKS = ("name", "region")
DATA = (
    "/AWS::IAM::Role for sagemaker.amazonaws.com",
    *(f"/{name}" for name, row in RESOURCE_TYPES.items() if row.holds_data),
)

ASKED_FOR = {
    # The last subnet goes because it is taken off the list; AWS keeps one in which anything is.
    ("network.hyperpod_subnets", "platform/AWS::EC2::Subnet", "remove"),
    # A file system that is left out leaves the stack, and is retained with its files.
    ("storage", "storage/AWS::FSx::FileSystem", "remove"),
    ("storage.home_directories", "storage/AWS::FSx::FileSystem", "remove"),
}

NAMES_OF_EXISTING = {
    ("lifecycle_scripts", "existing_bucket_name"),
    ("lifecycle_scripts", "existing_bucket_kms_key_arn"),
    ("cluster", "execution_role_arn"),
}

Table = dict[str, dict[str, str]]
"""Key to resource to outcome."""


def documents() -> dict[str, Document]:
    """Return each shipped configuration, the default one with options, and two of what exists."""
    shipped = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in SHIPPED}
    existing = yaml.safe_load(EVERY_EXISTING_RESOURCE.read_text(encoding="utf-8"))
    control_plane = yaml.safe_load(EXISTING_CONTROL_PLANE.read_text(encoding="utf-8"))
    options = merged(shipped["default"], OPTIONS)
    return {
        **shipped,
        "options": options,
        "existing": existing,
        "existing control plane": control_plane,
    }


def templates(document: Document) -> dict[str, Any]:
    """Return the template of each stack by its kind."""
    config = Config.model_validate(document)
    with tempfile.TemporaryDirectory() as directory:
        assembly = synthesized(config, chart=CHART, directory=Path(directory))
        found = assembly.templates()
    return {name.removeprefix(f"{config.name}-"): each for name, each in found.items()}


def table(name: str) -> Table:
    """Return what each key's change does to a configuration's deployment."""
    document = documents()[name]
    deployed = templates(document)
    result: Table = {}
    for key, alternatives in changes_of(name):
        if key not in OTHER_STACKS and alternatives:
            found = [_consequences(deployed, changed) for changed in alternatives]
            result[key] = worst(found)
    return result


def changes_of(name: str) -> Iterator[tuple[str, list[Document]]]:
    """Yield the keys of a configuration to change: of what it leaves out, `default` is enough."""
    document = documents()[name]
    match name:
        case "default":
            return changes(document)
        case "options":
            return changes(document, among=lambda path: path[0] in OPTIONS)
        case "existing":
            return changes(
                document, among=lambda path: path[0] == "network" or path in NAMES_OF_EXISTING
            )
        case "existing control plane":
            return changes(document, among=lambda path: path[0] == "eks" and is_set(document, path))
        case _:
            return changes(document, among=lambda path: is_set(document, path))


def _consequences(deployed: dict[str, Any], changed: Document) -> dict[str, str]:
    try:
        return consequences(deployed, templates(changed))
    except (ConfigError, HyperPodChartError):
        return {"synth": Outcome.REFUSED.value}


def unrefused(tables: Mapping[str, Table]) -> list[str]:
    """Return the cases that take a named resource or data, or fail."""
    return sorted(
        f"{name}: {key}: {resource} {outcome}"
        for name, keys in tables.items()
        for key, resources in keys.items()
        for resource, outcome in resources.items()
        if (key, resource, outcome) not in ASKED_FOR
        and (outcome == "fail" or (outcome != "update" and resource.endswith(DATA)))
    )


def reviewed() -> dict[str, Any]:
    """Return the checked-in file."""
    content: dict[str, Any] = json.loads(REVIEWED.read_text(encoding="utf-8"))
    return content


@pytest.mark.whole
@pytest.mark.slow(seconds=17)
@pytest.mark.parametrize("name", documents())
def test_each_change_does_what_was_reviewed(name: str) -> None:
    found = table(name)
    assert found == reviewed()["changes"][name]
    assert unrefused({name: found}) == []


@pytest.mark.parametrize("name", documents())
def test_every_key_with_another_value_is_reviewed(name: str) -> None:
    keys = {key for key, alternatives in changes_of(name) if alternatives}
    assert reviewed()["changes"][name].keys() == keys - set(OTHER_STACKS)


def unknown_keys(listed: Iterable[tuple[str, list[Document]]]) -> list[str]:
    """Return a line for each key that has no other value, or has one after all, unawares."""
    found: dict[str, bool] = {}
    for key, alternatives in listed:
        found[key] = found.get(key, False) or bool(alternatives)
    without = {key for key, other in found.items() if not other}
    return [
        *(
            f"{key}: no other value is valid by itself: add one to VALUES in "
            "tests/changes/alternatives.py, or, if there is none, the key to NO_OTHER_VALUE"
            for key in sorted(without - NO_OTHER_VALUE)
        ),
        *(
            f"{key}: has another value, or is no key: take it out of NO_OTHER_VALUE in "
            "tests/changes/alternatives.py"
            for key in sorted(NO_OTHER_VALUE - without)
        ),
    ]


@cache
def all_changes() -> Sequence[tuple[str, list[Document]]]:
    """Return the keys of every configuration, with other values."""
    return [*itertools.chain.from_iterable(changes(each) for each in documents().values())]


def test_only_these_keys_have_no_other_value() -> None:
    assert unknown_keys(all_changes()) == []


def test_a_new_key_without_another_value_is_told() -> None:
    [line] = unknown_keys([*all_changes(), ("storage.new", [])])
    assert line.startswith("storage.new: no other value is valid by itself: add one to VALUES")


def write() -> None:
    """Write the file anew."""
    unknown = unknown_keys(all_changes())
    if unknown:
        raise SystemExit("\n".join(unknown))
    # The CDK tells each synthesis's warnings there, which hide what is to be read.
    with redirect_stderr(io.TextIOWrapper(io.BytesIO())):
        content = {"changes": {name: table(name) for name in documents()}}
    REVIEWED.write_text(json_text(content, sort_keys=True), encoding="utf-8")


if __name__ == "__main__":
    write()
    sys.stdout.write(f"wrote {REVIEWED}\n")
