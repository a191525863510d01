"""Predictions on an archive, each compared with what the change does to the deployment itself.

The changes are those of the walk-through, and some of each kind of `tests/changes`.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from hyperpod_cdk.eks.section import EksConfig
from hyperpod_cli.inspect.archive.archive import Archive, read_archive
from hyperpod_emulator.aws.local_aws import aws_clients
from hyperpod_emulator.aws.settings import FailingStep
from hyperpod_rehearsal.change.nodes import ending, managed, settled
from hyperpod_rehearsal.change.outcome import ResourceChange, changes, snapshot
from hyperpod_rehearsal.change.prediction import Prediction
from hyperpod_rehearsal.change.rehearsal import ChangeRehearsal, reason
from hyperpod_rehearsal.kept_rehearsal import operator_credentials
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.stage import Stage
from tests.changes.test_config_changes import changes_of
from tests.support.configs import REPOSITORY
from tests.support.operator import Operator
from tests.support.stages import DEFAULT, InProcessStage, bootstrapped_stage, cdk_cli

pytestmark = pytest.mark.whole

Document = dict[str, Any]
Edit = Callable[[Document], None]
Ends = list[tuple[str, int, int]]
"""Group, nodes that end, new ones."""


def base() -> Document:
    """Return what is deployed: the default configuration, and EKS node groups."""
    document: Document = yaml.safe_load(DEFAULT.read_text("utf-8"))
    system = {"name": "system", "instance_types": ["c5.2xlarge"], "desired_size": 1, "max_size": 3}
    return {**document, "node_groups": [system, {**system, "name": "spare"}]}


def scaled(document: Document) -> None:
    document["cluster"]["instance_groups"][1]["instance_count"] = 3


def scaled_everywhere(document: Document) -> None:
    scaled(document)
    document["node_groups"][0]["desired_size"] = 2


def with_other_nodes(document: Document) -> None:
    """Give the nodes of an EKS group other disks, and of one another AMI: EKS replaces each."""
    system, spare = document["node_groups"]
    system["volume_size_gib"] = 200
    spare["release_version"] = f"{EksConfig().version}.2-20251112"


def changed(document: Document) -> None:
    scaled(document)
    document["cluster"]["instance_groups"].append(
        {"name": "debug", "instance_type": "ml.m5.xlarge", "instance_count": 1}
    )


def without_a_group(document: Document) -> None:
    del document["cluster"]["instance_groups"][1], document["node_groups"][1]


# What may become of a resource, by keys whose changes are reviewed in `tests/changes`; changes that
# do not touch each other are of one deployment, whose resources are compared one by one.
KEYS: Mapping[str, Sequence[str]] = {
    "refused by a rule": ["network.vpc_cidr"],
    "refused before": ["storage"],
    "replaced and deleted": ["helm.release", "helm.priority_classes", "network.nat_gateways"],
    # FSx takes another throughput once in six hours, so nothing comes after it.
    "updated and created": [
        "cluster.data_buckets",
        "cluster.node_recovery",
        "storage.throughput_mbps_per_tib",
        "tags",
        "workloads",
    ],
}


def with_other_values(name: str, document: Document) -> None:
    """Give keys of `KEYS` other values."""
    take({key: alternatives()[key] for key in KEYS[name]}, document)


@cache
def alternatives() -> Mapping[str, Document]:
    """Return for each key a document in which it has another value."""
    return {key: found[0] for key, found in changes_of("default") if found}


EDITS: Mapping[str, Edit] = {
    "scale": scaled_everywhere,
    "less": without_a_group,
    "other nodes": with_other_nodes,
    **{name: partial(with_other_values, name) for name in KEYS},
}
"""The changes by name, but for that of the rollback.

That one is of one stack: which of several is done when another one fails depends on time.
"""


def take(others: Mapping[str, Document], document: Document) -> None:
    """Give keys of a document the values that others have."""
    for key, other in others.items():
        *sections, last = key.split(".")
        place, value = document, other
        for section in sections:
            place, value = place.setdefault(section, {}), value[section]
        place[last] = value[last]


@dataclass
class Tally:
    """How many predictions there were, and how long each took."""

    seconds: list[float] = field(default_factory=list)
    right: int = 0


@pytest.fixture(scope="module")
def tally() -> Iterator[Tally]:
    """Write into `build/predictions.txt` how many predictions were right."""
    found = Tally()
    yield found
    mean = sum(found.seconds) / max(len(found.seconds), 1)
    text = f"{found.right} of {len(found.seconds)} predictions right, {mean:.0f} s each\n"
    path = REPOSITORY / "build" / "predictions.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("change")


@pytest.fixture(scope="module")
def stage(folder: Path) -> Iterator[Stage]:
    """The deployment that is archived, and then really changed."""
    work = folder / "deployed"
    work.mkdir()
    path = work / "deployed.yaml"
    path.write_text(yaml.safe_dump(base(), sort_keys=False), encoding="utf-8")
    with bootstrapped_stage(work, path) as made:
        assert made.deploy() is None
        settled(made.environment.clients, made.config.cluster.name)
        scale_by_hand(made)
        yield made


def scale_by_hand(stage: Stage) -> None:
    """Give `spare` another node than its template does, as an autoscaler would."""
    clients, name = aws_clients(stage.environment.aws), stage.config.eks_cluster_name
    asked = {"clusterName": name, "nodegroupName": "spare"}
    clients("eks").update_nodegroup_config(**asked, scalingConfig={"desiredSize": 2})
    while len(managed(stage.environment.kubernetes)) != 3:
        pass


def run_a_pod(stage: Stage, folder: Path) -> None:
    """Have a pod of a user run on the node of worker-group-2."""
    nodes = settled(stage.environment.clients, stage.config.cluster.name)
    [node] = [each for each in nodes if each.group == "worker-group-2"]
    spec = {"nodeName": node.kubernetes_name, "containers": [{"name": "a", "image": "a"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "train"}, "spec": spec}
    file = folder / "pod.json"
    file.write_text(json.dumps(pod), "utf-8")
    done, told = stage.tools.run(f"kubectl apply -f {file}")
    assert done, told


@pytest.fixture(scope="module")
def archive(stage: Stage, folder: Path) -> Archive:
    run_a_pod(stage, folder)
    path = folder / "deployed.zip"
    operator = Operator(stage=stage, home=folder, credentials=operator_credentials(stage))
    told = operator.output("archive", str(path))
    assert "5 stacks, 5 nodes; digest" in told
    assert told.count("\n") == 1
    return read_archive(path)


def predicted(
    archive: Archive, edit: Edit, *, folder: Path, fails: bool = False, **options: Any
) -> Prediction:
    document = base()
    edit(document)
    path = folder / "mine.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return ChangeRehearsal(
        archive=archive,
        config_path=path,
        work_directory=folder / "predicted",
        progress=Progress(),
        fails=fails,
        cdk=cdk_cli(),
        stage_type=InProcessStage,
        **options,
    ).run()


def done(stage: Stage, edit: Edit, archive: Archive) -> tuple[list[ResourceChange], Ends, str]:
    """Deploy a change on the deployment itself, as `deploy` does; return what it did."""
    # Those of the stage would look at each answer, and a template is no text.
    clients, cluster = aws_clients(stage.environment.aws), stage.config.cluster.name
    stage.restore()
    assert stage.deploy_first() is None
    scale_by_hand(stage)
    stage.change(edit)
    code, told = stage.look("account", "--for-deployment")
    if code != 0:
        return [], [], told
    names = [*dict.fromkeys([*archive.templates, *stage.stacks])]
    kubernetes = stage.environment.kubernetes
    nodes = [*settled(clients, cluster), *managed(kubernetes)]
    before = snapshot(clients, names)
    stage.attempts = []
    error = stage.deploy() or ""
    after = [*settled(clients, cluster), *managed(kubernetes)]
    ends = ending(nodes, after, archive=archive)
    found = changes(before, snapshot(clients, names), events=stage.attempts[0].events)
    return found, [(each.group, each.ends, each.added) for each in ends], reason(error)


def without_names(error: str) -> list[str]:
    """Return an error without what another account, or another file, calls otherwise."""
    names = re.compile(r"/\S+\.yaml|(fs|subnet|sg|vpc|i)-[0-9a-f]+|(?<=-)[0-9a-f]{8} in CloudWatch")
    return [
        names.sub("...", line)
        for line in error.strip().splitlines()
        if not line.startswith("WARNING")
    ]


def compare(prediction: Prediction, real: tuple[list[ResourceChange], Ends, str]) -> None:
    """Compare a prediction with what was done; minutes and cost are of models, and left out."""
    found, ends, error = real
    assert [*prediction.changes] == found
    assert [(each.group, each.ends, each.added) for each in prediction.nodes] == ends
    assert without_names(prediction.error) == without_names(error)
    assert prediction.error or found


@pytest.mark.slow(seconds=55)
def test_a_rollback_that_is_predicted_is_what_happens(
    stage: Stage, archive: Archive, folder: Path, tally: Tally
) -> None:
    prediction = predicted(archive, changed, folder=folder, fails=True)
    tally.seconds.append(prediction.seconds)
    rollback = prediction.rollback
    assert rollback is not None

    step = FailingStep(stack=rollback.step.stack, logical_id=rollback.step.logical_id)
    stage.environment.aws.tell(step)
    found, ends, error = done(stage, changed, archive)

    assert "Internal failure, which is simulated" in error
    assert [*rollback.changes] == found == []
    assert rollback.statuses == {"ml-hyperpod": "UPDATE_ROLLBACK_COMPLETE"}
    assert ends == []
    assert (rollback.nodes, rollback.ended) == (5, 0)
    # It failed once; now it does what was predicted.
    compare(prediction, done(stage, changed, archive))
    tally.right += 1


@pytest.mark.slow(seconds=28)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_what_is_predicted_is_what_happens(
    stage: Stage, archive: Archive, folder: Path, edit: Edit, tally: Tally
) -> None:
    given = {"Version": "2012-10-17", "Statement": []}
    prediction = predicted(archive, edit, folder=folder, policies=[given])
    tally.seconds.append(prediction.seconds)
    compare(prediction, done(stage, edit, archive))
    tally.right += 1

    # All is missing that `hyperpod-cdk deployer-policy` has; of CloudFormation's, what a new stack
    # needs.
    rules = {each["rule"] for each in prediction.plan.get("effects", ())}
    new = {"CloudFormation"} if "stack.new" in rules else set()
    assert {each.who for each in prediction.missing} == {"deployer"} | new
    assert prediction.code == 1
    if edit is without_a_group:
        text = "\n".join(prediction.lines())
        assert "group worker-group-2: 1 of its nodes end" in text
        assert "    ends pod default/train" in text
        assert "group spare: 2 of its nodes end" in text
    if edit is with_other_nodes:
        assert [(each.group, each.ends, each.added) for each in prediction.nodes] == [
            ("spare", 2, 2),
            ("system", 1, 1),
        ]
