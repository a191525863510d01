"""The cloud assembly of an archive, made without AWS."""

import json
from pathlib import Path

import pytest

from hyperpod_cdk import load_config
from hyperpod_cli.aws.assembly import stacks_in
from hyperpod_cli.inspect.archive.archive import Archive, ArchiveError
from hyperpod_cli.inspect.archive.deployment import ArchivedStack
from hyperpod_rehearsal.change.assembly import ArchivedVersion, hide_in, named_in
from hyperpod_rehearsal.stand_in_chart import STAND_IN
from tests.support.archives import archive_with
from tests.support.assembly import synthesized
from tests.support.stages import DEFAULT


@pytest.fixture(scope="module")
def like(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("like")
    synthesized(load_config(DEFAULT), chart=STAND_IN, directory=folder)
    return folder


def archive_of(like: Path) -> Archive:
    """Return the archive of what an assembly deploys, without files of S3."""
    stacks = stacks_in(like)
    archive = archive_with(
        stacks=tuple(
            ArchivedStack(name=each.name, status="CREATE_COMPLETE", parameters={"A": "b"})
            for each in stacks
        )
    )
    templates = {each.name: each.template for each in stacks}
    return archive.model_copy(update={"templates": templates})


def test_what_is_deployed_can_be_deployed_again(like: Path, tmp_path: Path) -> None:
    ArchivedVersion(archive=archive_of(like), config=DEFAULT).restore(tmp_path, like=like)

    found = {each.name: each for each in stacks_in(tmp_path)}
    assert {name: each.template for name, each in found.items()} == {
        each.name: each.template for each in stacks_in(like)
    }
    assert found["ml-hyperpod"].needs == ("ml-platform",)
    assert found["ml-platform"].needs == ()
    for manifest in tmp_path.glob("*.assets.json"):
        for file in json.loads(manifest.read_text("utf-8"))["files"].values():
            assert (tmp_path / file["source"]["path"]).exists()


def test_a_file_that_nobody_has_is_told(like: Path, tmp_path: Path) -> None:
    archive = archive_of(like)
    other = "f" * 64 + ".tgz"
    gone = {"Type": "Custom::HelmRelease", "Properties": {"ChartKey": other}}
    platform = archive.templates["ml-platform"]
    templates = {
        **archive.templates,
        "ml-platform": {**platform, "Resources": {**platform["Resources"], "Gone": gone}},
    }
    lacking = archive.model_copy(update={"templates": templates})
    with pytest.raises(ArchiveError, match=r"lacks f+\.tgz, which ml-platform/Gone/ChartKey"):
        ArchivedVersion(archive=lacking, config=DEFAULT).restore(tmp_path, like=like)

    having = lacking.model_copy(update={"assets": {other: b"chart"}})
    ArchivedVersion(archive=having, config=DEFAULT).restore(tmp_path, like=like)
    assert (tmp_path / f"asset.{other}").read_bytes() == b"chart"


def test_what_is_hidden_in_an_archive_is_hidden_in_the_change(like: Path, tmp_path: Path) -> None:
    ArchivedVersion(archive=archive_of(like), config=DEFAULT).restore(tmp_path, like=like)
    path = tmp_path / "ml-storage.template.json"
    template = json.loads(path.read_text("utf-8"))
    before = json.dumps(template)
    hide_in(tmp_path)
    assert json.dumps(json.loads(path.read_text("utf-8"))) == before
    template["Resources"]["Claim"] = {"Type": "A", "Properties": {"Password": "s3cret"}}
    path.write_text(json.dumps(template), encoding="utf-8")
    hide_in(tmp_path)
    assert "s3cret" not in path.read_text("utf-8")


def test_what_templates_name_is_found() -> None:
    key = "arn:aws:kms:us-west-2:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
    roles = [f"arn:aws:iam::111122223333:{each}" for each in ("role/team/Alice", "user/Bob")]
    template = {
        "Resources": {
            "A": {"Principals": [*roles, roles[0]], "Key": key},
            "B": {"DataRepositoryPath": "s3://data/prefix", "Any": "arn:aws:iam::1:role/*"},
        }
    }
    assert [str(each) for each in named_in([template])] == [
        f"IAM role {roles[0]}",
        f"IAM user {roles[1]}",
        f"KMS key {key}",
        "S3 bucket data",
    ]


def test_a_release_whose_chart_is_not_archived_is_as_the_configuration_has_it(
    like: Path, tmp_path: Path
) -> None:
    archive = archive_of(like)
    template = json.loads(json.dumps(archive.templates["ml-hyperpod"]))
    releases = {
        name: each["Properties"]
        for name, each in template["Resources"].items()
        if each["Type"] == "Custom::HelmRelease"
    }
    here = json.loads(json.dumps(releases))
    for each in releases.values():
        each |= {"ChartKey": "f" * 64 + ".tgz", "ChartDigest": "sha256:another"}
    templates = {**archive.templates, "ml-hyperpod": template}
    version = ArchivedVersion(
        archive=archive.model_copy(update={"templates": templates}), config=DEFAULT
    )
    assert version.absent(like) == [("ml-hyperpod", name) for name in releases]

    version.restore(tmp_path, like=like)

    [restored] = [each for each in stacks_in(tmp_path) if each.name == "ml-hyperpod"]
    assert {name: restored.template["Resources"][name]["Properties"] for name in here} == here
