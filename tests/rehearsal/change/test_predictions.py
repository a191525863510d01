"""Predictions on an archive, each compared with what the change does to the deployment itself.

The changes are those of the walk-through, and some of each kind of `tests/changes`.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from emulator.aws.local_aws import aws_clients
from emulator.aws.settings import FailingStep
from hyperpod_cli.inspect.archive.archive import Archive, read_archive
from rehearsal.change.nodes import ending, settled
from rehearsal.change.outcome import Change, changes, snapshot
from rehearsal.change.prediction import Prediction
from rehearsal.change.rehearsal import ChangeRehearsal
from rehearsal.kept_rehearsal import operator_credentials
from rehearsal.progress import Progress
from rehearsal.stage import Stage
from tests.support.operator import Operator
from tests.support.stages import DEFAULT, InProcessStage, bootstrapped_stage, cdk_cli

pytestmark = pytest.mark.whole

Document = dict[str, Any]
Edit = Callable[[Document], None]
Ends = list[tuple[str, int, int]]
"""Group, nodes that end, new ones."""


def worker_2(document: Document) -> Document:
    group: Document = document["cluster"]["instance_groups"][1]
    return group


def scaled(document: Document) -> None:
    worker_2(document)["instance_count"] = 3


def grown(document: Document) -> None:
    scaled(document)
    document["cluster"]["instance_groups"].append(
        {"name": "debug", "instance_type": "ml.m5.xlarge", "instance_count": 1}
    )


def without_a_group(document: Document) -> None:
    del document["cluster"]["instance_groups"][1]


def with_tags(document: Document) -> None:
    document["tags"] = {"team": "research"}


def with_more_throughput(document: Document) -> None:
    document["storage"]["throughput_mbps_per_tib"] = 500


def without_storage(document: Document) -> None:
    document["storage"] = None


def with_another_mode(document: Document) -> None:
    document["cluster"]["node_provisioning_mode"] = None


def with_another_name(document: Document) -> None:
    document["cluster"]["name"] = "other"


def with_notifications(document: Document) -> None:
    document["observability"] = {"notifications": {"emails": ["ops@example.com"]}}


def with_recovery_off(document: Document) -> None:
    document["cluster"]["node_recovery"] = "None"


EDITS: tuple[Edit, ...] = (
    scaled,
    grown,
    without_a_group,
    with_tags,
    with_more_throughput,
    without_storage,
    with_another_mode,
    with_another_name,
    with_notifications,
    with_recovery_off,
)


REFUSED = {with_another_mode, with_another_name}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("change")


@pytest.fixture(scope="module")
def stage(folder: Path) -> Iterator[Stage]:
    """The deployment that is archived, and then really changed."""
    work = folder / "deployed"
    work.mkdir()
    with bootstrapped_stage(work) as made:
        assert made.deploy() is None
        settled(made.environment.clients, made.config.cluster.name)
        yield made


@pytest.fixture(scope="module")
def archive(stage: Stage, folder: Path) -> Archive:
    path = folder / "deployed.zip"
    operator = Operator(stage=stage, home=folder, credentials=operator_credentials(stage))
    told = operator.output("archive", str(path))
    assert "4 stacks, 2 nodes; digest" in told
    assert told.count("\n") == 1
    return read_archive(path)


def predicted(archive: Archive, edit: Edit, *, folder: Path, fails: bool = False) -> Prediction:
    document = yaml.safe_load(DEFAULT.read_text("utf-8"))
    edit(document)
    path = folder / f"{edit.__name__}.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return ChangeRehearsal(
        archive=archive,
        config_path=path,
        work_directory=folder / f"predicted-{edit.__name__}",
        progress=Progress(),
        fails=fails,
        cdk=cdk_cli(),
        stage_type=InProcessStage,
    ).run()


def done(stage: Stage, edit: Edit, archive: Archive) -> tuple[list[Change], Ends, str]:
    """Deploy a change on the deployment itself, and what it had again; return what it did."""
    # Those of the stage would look at each answer, and a template is no text.
    clients, cluster = aws_clients(stage.environment.aws), stage.config.cluster.name
    stage.change(edit)
    names = [*dict.fromkeys([*archive.templates, *stage.stacks])]
    before, nodes = snapshot(clients, names), settled(clients, cluster)
    stage.attempts = []
    error = stage.deploy() or ""
    ends = ending(nodes, settled(clients, cluster), archive=archive)
    found = changes(before, snapshot(clients, names), events=stage.attempts[0].events)
    stage.restore()
    assert stage.deploy() is None
    settled(clients, cluster)
    return found, [(each.group, each.ends, each.added) for each in ends], error


def without_names(error: str) -> str:
    """Return an error without what another account, or another file, calls otherwise."""
    return re.sub(r"CONFIG=\S+|(fs|subnet|sg|vpc|i)-[0-9a-f]+", "...", error)


@pytest.mark.slow(seconds=30)
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_what_is_predicted_is_what_happens(
    stage: Stage, archive: Archive, folder: Path, edit: Edit
) -> None:
    prediction = predicted(archive, edit, folder=folder)
    found, ends, error = done(stage, edit, archive)

    assert [*prediction.changes] == found
    assert [(each.group, each.ends, each.added) for each in prediction.nodes] == ends
    assert without_names(prediction.error) == without_names(error)
    assert (prediction.code == 1) == (edit in REFUSED)
    assert bool(found) != (edit in REFUSED)


@pytest.mark.slow(seconds=40)
def test_a_rollback_that_is_predicted_is_what_happens(
    stage: Stage, archive: Archive, folder: Path
) -> None:
    rollback = predicted(archive, grown, folder=folder, fails=True).rollback
    assert rollback is not None

    step = FailingStep(stack=rollback.step.stack, logical_id=rollback.step.logical_id)
    stage.environment.aws.fail_step(step)
    found, _, error = done(stage, grown, archive)

    assert "Internal failure, which is rehearsed" in error
    assert [*rollback.changes] == found == []
    assert rollback.statuses == {"ml-hyperpod": "UPDATE_ROLLBACK_COMPLETE"}
    assert (rollback.nodes, rollback.ended) == (2, 0)


@pytest.mark.slow(seconds=20)
def test_counts_are_those_of_the_cluster(archive: Archive, folder: Path) -> None:
    cluster = json.loads(json.dumps(archive.deployment.cluster))
    cluster["InstanceGroups"][1] |= {"TargetCount": 2, "CurrentCount": 2}
    deployment = archive.deployment.model_copy(update={"cluster": cluster})
    scaled_by_hand = archive.model_copy(update={"deployment": deployment})

    prediction = predicted(scaled_by_hand, with_tags, folder=folder)

    assert prediction.notes == ["group worker-group-2 has 2 nodes, not 1"]
    # A number that did not change in the configuration stays as the cluster has it.
    assert prediction.nodes == []
