"""What is told of a change before anything is deployed on the local AWS."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from rehearsal.change import rehearsal
from rehearsal.progress import Progress
from tests.conftest import Assemble, Configure
from tests.support.archives import archive_with

SYSTEM = {"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}
OTHER = {"volume_size_gib": 200, "labels": {"team": "a"}}


def document(**changes: Any) -> dict[str, Any]:
    return {"cluster": None, "node_groups": [{**SYSTEM, **changes}]}


def test_what_eks_takes_alone_is_told_as_make_deploy_tells_it(
    monkeypatch: pytest.MonkeyPatch, configure: Configure, assemble: Assemble, tmp_path: Path
) -> None:
    former, wanted = configure(document()), configure(document(**OTHER))
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(document(**OTHER), sort_keys=False), "utf-8")
    stage = SimpleNamespace(
        assembly=assemble(wanted).directory,
        chart=SimpleNamespace(path=tmp_path),
        config=wanted,
        environment=SimpleNamespace(
            clients=None, kubernetes=SimpleNamespace(objects=lambda *_: [])
        ),
        look=lambda *_: (0, ""),
    )

    @contextmanager
    def replayed(*_: object, **__: object) -> Iterator[SimpleNamespace]:
        yield stage

    monkeypatch.setattr(rehearsal, "replayed", replayed)
    prediction = rehearsal.ChangeRehearsal(
        archive=archive_with().model_copy(update={"templates": assemble(former).templates()}),
        config_path=path,
        work_directory=tmp_path,
        progress=Progress(),
    ).run()

    assert prediction.error.startswith(f"{path}:8: node_groups[0] (system).labels: {{'team': 'a'}}")
    assert "changes together with volume_size_gib, which replaces the nodes" in prediction.error
    assert (prediction.code, prediction.rollback) == (1, None)
