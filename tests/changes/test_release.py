"""The last release's logical ids and names stay where they are, unless a note says so.

CloudFormation deletes the resource of a logical id that is gone, and one whose name changes. Who
upgrades reads of it in CHANGELOG.md: each is named there, above the heading of the release.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from aws_reference.resource_schemas import schema_of
from hyperpod_cdk import load_config
from rehearsal.releases import ReleaseError, record, releases
from tests.conftest import Assemble
from tests.support.configs import REPOSITORY

Template = Mapping[str, Any]
CHANGELOG = (REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^## \[(\d+\.\d+\.\d+)\]", re.MULTILINE)


def moves(old: Mapping[str, Template], new: Mapping[str, Template]) -> Iterator[tuple[str, str]]:
    """Yield the logical id, and what happened to it, of all that is not where it was."""
    for stack, template in old.items():
        for section in ("Resources", "Outputs", "Parameters"):
            today = new.get(stack, {}).get(section, {})
            for logical_id, was in template.get(section, {}).items():
                if logical_id not in today:
                    yield logical_id, f"is no longer among the {section} of {stack}"
                elif section == "Resources":
                    for change in _changes(was, today[logical_id]):
                        yield logical_id, f"{change} ({stack})"


def _changes(old: Template, new: Template) -> Iterator[str]:
    if old["Type"] != new["Type"]:
        yield f"is {new['Type']}, not {old['Type']}"
        return
    schema = schema_of(old["Type"])
    if schema is not None:
        names = [schema.given_name(each.get("Properties", {})) for each in (old, new)]
        if names[0] != names[1]:
            yield f"is named {json.dumps(names[1])}, not {json.dumps(names[0])}"


def test_nothing_of_the_last_release_moved_without_a_note(assemble: Assemble) -> None:
    release = releases()[-1]
    today = assemble(load_config(release.config)).templates()
    notes = CHANGELOG.partition(f"## [{release.version}]")[0]

    moved = list(moves(release.templates(), today))

    assert [f"{name} {what}" for name, what in moved if f"`{name}`" not in notes] == []


BUCKET = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "mine"}}
RESOURCES = {"a": {"Resources": {"Bucket": BUCKET}, "Outputs": {"Name": {"Value": "mine"}}}}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"Resources": {"Bucket": BUCKET}, "Outputs": {"Name": {}, "Arn": {}}}, []),
        ({"Resources": {"Other": BUCKET}, "Outputs": {"Name": {}}}, ["Bucket is no longer among"]),
        ({"Resources": {"Bucket": BUCKET}}, ["Name is no longer among the Outputs of a"]),
        (
            {"Resources": {"Bucket": {**BUCKET, "Properties": {}}}, "Outputs": {"Name": {}}},
            ['Bucket is named null, not "mine" (a)'],
        ),
        (
            {"Resources": {"Bucket": {"Type": "AWS::S3::AccessPoint"}}, "Outputs": {"Name": {}}},
            ["Bucket is AWS::S3::AccessPoint, not AWS::S3::Bucket (a)"],
        ),
    ],
)
def test_moves(changed: Template, said: list[str]) -> None:
    found = [" ".join(move) for move in moves(RESOURCES, {"a": changed})]
    assert len(found) == len(said)
    assert all(line.startswith(start) for line, start in zip(found, said, strict=True))


def test_a_stack_that_goes_takes_everything_with_it() -> None:
    assert [name for name, _ in moves(RESOURCES, {})] == ["Bucket", "Name"]


def test_the_newest_release_is_in_the_changelog_and_not_newer_than_the_package() -> None:
    newest = releases()[-1].version
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))

    assert HEADING.findall(CHANGELOG)[0] == newest
    assert tuple(map(int, newest.split("."))) <= tuple(
        map(int, project["project"]["version"].split("."))
    )


def test_a_release_is_recorded_once() -> None:
    with pytest.raises(ReleaseError, match=r"pyproject\.toml: version .* is released already"):
        record(version=releases()[-1].version)


# Of what is at the top of a file system, what does not also begin a path in the cloud.
MACHINE_PATH = re.compile(
    r"(?<![\w.*}-])/(?:home|Users|root|tmp|var|private|work|workspaces?|builds?|runner|mnt|srv|usr)"
    r"/[\w.-]+|[A-Z]:\\\\"
)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('"path": "/home/ann/hyperpod/cdk.out/asset.1"', True),
        ("at /srv/checkout/app.py:1", True),
        (r'"path": "C:\\Users\\ann"', True),
        ('"/aws/lambda/ml-platform"', False),
        ('"arn:aws:iam::aws:policy/service-role/X"', False),
        ("https://docs.aws.amazon.com/eks/latest/home/x", False),
    ],
)
def test_paths_of_a_machine_are_told_from_others(text: str, found: bool) -> None:
    assert (MACHINE_PATH.search(text) is not None) == found


def test_a_release_holds_no_path_of_the_machine_that_recorded_it() -> None:
    texts = releases()[-1].texts()

    assert texts
    for text in texts.values():
        assert MACHINE_PATH.findall(text) == []
