"""The templates of every shipped configuration, as they were last reviewed.

Those of the default configuration are kept whole; of the others, how they differ from it, or from
the first of their family.
"""

import json
import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from hyperpod_cdk import load_config
from tests.conftest import Assemble
from tests.snapshot.difference import ShortJson, Templates, difference, without_name
from tests.support.configs import CONFIG_FOLDER, CONFIGS

# An asset's hash changes with its content, and the content has tests of its own; so does the tag of
# an image that is built of a folder.
ASSET_HASH = re.compile(r"\b[0-9a-f]{64}\b|(?<=gpu-)[0-9a-f]{16}\b|(?<=neuron-)[0-9a-f]{16}\b")
DEFAULT = CONFIG_FOLDER / "default.yaml"
FAMILIES = ("eks-", "llm-", "observability", "slurm")
"""How the names of configurations begin that are compared with the first of them."""


class TemplateSnapshot(ShortJson):
    """A file with the name that the test gives, without the test's own."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """Return the name the test gives."""
        return str(index) if isinstance(index, str) else f"{test_location.snapshot_name}.{index}"


def templates_of(path: Path, assemble: Assemble) -> Templates:
    """Return the templates of a configuration, asset hashes masked."""
    texts = assemble(load_config(path)).texts()
    return {
        stack: json.loads(ASSET_HASH.sub("<asset-hash>", text)) for stack, text in texts.items()
    }


def base_of(path: Path) -> Path:
    """Return the configuration that another is compared with."""
    family = next((each for each in FAMILIES if path.stem.startswith(each)), None)
    if family is None:
        return DEFAULT
    first = min(
        (each for each in CONFIGS if each.stem.startswith(family)), key=lambda each: each.stem
    )
    return DEFAULT if path == first else first


def test_default_templates_are_as_reviewed(assemble: Assemble, snapshot: SnapshotAssertion) -> None:
    reviewed = snapshot.use_extension(TemplateSnapshot)
    templates = templates_of(DEFAULT, assemble)

    assert templates
    for stack, template in templates.items():
        assert template == reviewed(name=f"default.{stack}")


@pytest.mark.parametrize(
    "path", [path for path in CONFIGS if path != DEFAULT], ids=lambda path: path.stem
)
def test_templates_differ_as_reviewed(
    path: Path, assemble: Assemble, snapshot: SnapshotAssertion
) -> None:
    base = base_of(path)
    before, after = (
        without_name(templates_of(each, assemble), load_config(each).name) for each in (base, path)
    )

    # A dictionary of the usual kind would be sorted.
    found = OrderedDict({"differs from": base.stem, **difference(before, after)})
    assert found == snapshot.use_extension(TemplateSnapshot)(name=path.stem)


RESOURCE = {"Type": "AWS::S3::Bucket", "Properties": {"Tags": [{"Key": "a"}, {"Key": "b"}], "N": 1}}


@pytest.mark.parametrize(
    ("resources", "expected"),
    [
        ({"B": RESOURCE}, {}),
        ({"B": {**RESOURCE, "Type": "T"}}, {"- B/Type": "AWS::S3::Bucket", "+ B/Type": "T"}),
        ({"C": {"Type": "T"}}, {"- B": "AWS::S3::Bucket", "+ C": {"Type": "T"}}),
        ({"B": RESOURCE, "C": {"Type": "T"}}, {"+ C": {"Type": "T"}}),
        ({"B": {**RESOURCE, "DependsOn": "C"}}, {"+ B/DependsOn": "C"}),
        (
            {"B": {**RESOURCE, "Properties": {"Tags": [{"Key": "b"}], "N": 2}}},
            {
                "- B/Properties/N": 1,
                "+ B/Properties/N": 2,
                "- B/Properties/Tags/0": {"Key": "a"},
            },
        ),
        (
            {"B": {**RESOURCE, "Properties": {"Tags": [{"Key": "c"}, {"Key": "a"}], "N": 1}}},
            {"+ B/Properties/Tags/0": {"Key": "c"}, "- B/Properties/Tags/1": {"Key": "b"}},
        ),
        (
            {"B": {**RESOURCE, "Properties": {"Tags": [{"Key": "a"}, {"Key": "c"}], "N": 1}}},
            {"- B/Properties/Tags/1/Key": "b", "+ B/Properties/Tags/1/Key": "c"},
        ),
        (
            {"B": {**RESOURCE, "Properties": {"Tags": {"Ref": "T"}, "N": 1}}},
            {
                "- B/Properties/Tags": [{"Key": "a"}, {"Key": "b"}],
                "+ B/Properties/Tags": {"Ref": "T"},
            },
        ),
    ],
)
def test_difference(resources: dict[str, Any], expected: dict[str, Any]) -> None:
    before, after = ({"s": {"Resources": each}} for each in ({"B": RESOURCE}, resources))

    found = difference(before, after)

    assert found == {f"{key[:2]}s/Resources/{key[2:]}": value for key, value in expected.items()}


def test_a_stack_that_goes_is_told_by_its_resources() -> None:
    assert difference({"s": {"Resources": {"B": RESOURCE}}}, {}) == {"- s": ["B"]}


def test_the_deployments_name_makes_no_difference() -> None:
    ids = {
        name: {
            f"{name}-hyperpod": {
                f"ClusterSecurityGroupfrom{name}platformClusterSecurityGroup{number}988{number}": 1,
                "FunctionName": f"{name}-platform-Provisioner-{number}-OnEvent",
                "InstanceType": "ml.g5.xlarge",
            }
        }
        for name, number in (("ml", "0123ABCD"), ("llm", "4567EFFF"))
    }
    found = [without_name(templates, name) for name, templates in ids.items()]

    assert found[0] == found[1]
    assert found[0]["<name>-hyperpod"]["InstanceType"] == "ml.g5.xlarge"
