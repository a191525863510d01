"""The templates of every shipped configuration, as they were last reviewed."""

import json
import re
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension
from syrupy.location import PyTestLocation
from syrupy.types import SnapshotIndex

from hyperpod_cdk import load_config
from tests.conftest import Assemble
from tests.support.configs import CONFIGS

# An asset's hash changes with its content, and the content has tests of its own.
ASSET_HASH = re.compile(r"\b[0-9a-f]{64}\b")


class TemplateSnapshot(JSONSnapshotExtension):
    """One file a stack, `<configuration>.<stack>.json`."""

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """Return the name the test gives, without the test's own."""
        return str(index) if isinstance(index, str) else f"{test_location.snapshot_name}.{index}"


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_templates_are_as_reviewed(
    path: Path, assemble: Assemble, snapshot: SnapshotAssertion
) -> None:
    reviewed = snapshot.use_extension(TemplateSnapshot)
    texts = assemble(load_config(path)).texts()

    assert texts
    for name, text in texts.items():
        template = json.loads(ASSET_HASH.sub("<asset-hash>", text))
        assert template == reviewed(name=f"{path.stem}.{name}")
