"""What is told of a change before anything is deployed on the local AWS."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from hyperpod_cli.aws.stacks import Deployed
from hyperpod_rehearsal.change import rehearsal
from hyperpod_rehearsal.progress import Progress
from tests.conftest import Assemble, Configure
from tests.support.archives import archive_with
from tests.support.played import Played

SYSTEM = {"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1}
OTHER = {"volume_size_gib": 200, "labels": {"team": "a"}}


def document(**changes: Any) -> dict[str, Any]:
    return {"cluster": None, "node_groups": [{**SYSTEM, **changes}]}


BLOCK = {
    "instance_types": ["p5.48xlarge"],
    "capacity": "CapacityBlock",
    "capacity_reservation_id": "cr-0123456789abcdef0",
    "desired_size": 0,
}
# As somebody else has scaled it.
SCALED = {
    "nodegroupName": "system",
    "clusterName": "ml-eks",
    "scalingConfig": {"minSize": 0, "maxSize": 3, "desiredSize": 3},
}


@pytest.mark.parametrize(
    ("had", "changes"),
    [({}, OTHER), (BLOCK, {"detailed_monitoring": True})],
    ids=["two changes at once", "a change with nodes"],
)
def test_what_eks_refuses_is_told_as_make_deploy_tells_it(
    monkeypatch: pytest.MonkeyPatch,
    configure: Configure,
    assemble: Assemble,
    tmp_path: Path,
    *,
    had: Mapping[str, Any],
    changes: Mapping[str, Any],
    snapshot: SnapshotAssertion,
) -> None:
    changed = document(**had, **changes)
    former, wanted = configure(document(**had)), configure(changed)
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(changed, sort_keys=False), "utf-8")
    clients = Played(describe_nodegroup={"nodegroup": SCALED}).client
    stage = SimpleNamespace(
        assembly=assemble(wanted).directory,
        chart=SimpleNamespace(path=tmp_path),
        config=wanted,
        environment=SimpleNamespace(clients=clients, kubernetes=None),
        refusal=lambda: "",
    )

    @contextmanager
    def replayed(*_: object, **__: object) -> Iterator[SimpleNamespace]:
        yield stage

    templates = assemble(former).templates()
    monkeypatch.setattr(
        rehearsal,
        "deployed",
        lambda _, name: Deployed(status="CREATE_COMPLETE", template=templates[name]),
    )
    monkeypatch.setattr(rehearsal.ChangeRehearsal, "_replayed", replayed)
    monkeypatch.setattr(rehearsal, "set_counts", lambda *_, **__: [])
    prediction = rehearsal.ChangeRehearsal(
        archive=archive_with().model_copy(update={"templates": templates}),
        config_path=path,
        work_directory=tmp_path,
        progress=Progress(),
    ).run()

    assert prediction.error.replace(f"{path}", "FILE") == snapshot
    assert (prediction.code, prediction.rollback) == (1, None)
