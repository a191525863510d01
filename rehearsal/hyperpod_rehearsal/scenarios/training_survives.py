"""A scenario in which a GPU node fails under a job, which goes on from its last checkpoint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import yaml

from hyperpod_cdk import Config
from hyperpod_emulator.kubernetes import KubernetesApi
from hyperpod_emulator.kubernetes.training_operator import API_VERSION, JOB_LABEL, KIND
from hyperpod_rehearsal.kept_rehearsal import operator_credentials
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.scenarios.scenario import ON_EKS, Scenario, all_nodes_run, succeeds
from hyperpod_rehearsal.stage import Stage
from hyperpod_rehearsal.training import (
    IMAGE,
    LONGEST_SECONDS,
    Said,
    TrainingCluster,
    TrainingReport,
    lacks_training,
)

_JOB, _NAMESPACE = "training-survives", "default"
_GROUP = "training"
# One GPU to a node, so that one process trains on each.
_TYPE, _NODES = "ml.g5.2xlarge", 2
_STEPS, _FAULT_AFTER = 200, 100
_SHARED = (
    "  The kernel gives your user no network namespace: until this scenario ends, every account of "
    "this machine can run code as you, by PyTorch's rendezvous"
)
_VALUES: Mapping[str, object] = {
    "image": IMAGE,
    "secret": "",
    "arguments": {
        "model": "tiny",
        "dataset": "synthetic",
        "sequence-length": 64,
        "global-batch-size": 8,
        "micro-batch-size": 4,
        "learning-rate": 0.001,
        "max-steps": _STEPS,
        "checkpoint-every": 40,
    },
}


def _lacks_claim(config: Config) -> str | None:
    claims = (
        [] if config.storage is None else [(c.namespace, c.name) for c in config.storage.claims]
    )
    there = config.storage is not None and (not claims or (_NAMESPACE, None) in claims)
    return None if there else "storage with the claim fsx-claim in the namespace default"


def _with_group(document: dict[str, Any]) -> None:
    groups = document["cluster"]["instance_groups"]
    groups.append({"name": _GROUP, "instance_type": _TYPE, "instance_count": _NODES})


@Scenario(
    begins="anyhow",
    messages=("node-faulty: hardware",),
    needs={**ON_EKS, "cluster.node_recovery": "Automatic"},
    also_lacking=_lacks_claim,
    machine_lacks=lacks_training,
)
def training_survives(stage: Stage) -> Iterator[Fact]:
    """A GPU node fails under a job that trains on this machine."""
    api = stage.environment.kubernetes
    stage.change(_with_group)
    yield succeeds(f"a deployment with {_NODES} nodes of {_TYPE} works", stage.deploy())
    yield all_nodes_run(stage)
    with TrainingCluster(api, stage.work_directory / "training") as cluster:
        if not cluster.is_private:
            stage.progress.say(_SHARED)
        with _submitted(stage, api) as submitted:
            with stage.progress.step("hyperpod-cdk train, until a node fails"):
                cluster.wait(lambda: submitted.done() or _reaches(cluster, _FAULT_AFTER))
            if submitted.done():
                yield succeeds("hyperpod-cdk train submits the job", submitted.result()[1])
                return
            before = _nodes_of(api)
            yield Fact(
                title=f"it trains on {_NODES} nodes: {', '.join(sorted(before.values()))}",
                ok=len({*before.values()}) == _NODES,
            )
            # Not the node of the first worker, which all others meet at.
            failed = before[max(before)]
            fault = cluster.fail(failed)
            stage.progress.say(f"  {failed}: NVRM: Xid 74 in /var/log/messages")
            with stage.progress.step("Waiting until the job goes on"):
                cluster.wait(
                    lambda: submitted.done() or _resumed(cluster.said(), fault) is not None
                )
            # Those that still run when the first ends are deleted, if the job says so.
            new = _nodes_of(api).get(max(before), "no node")
            with stage.progress.step("Waiting for the job's end"):
                code, output = submitted.result(timeout=LONGEST_SECONDS)
        yield Fact(
            title=f"HyperPod replaced {failed} by {new}, and the job went on there",
            ok=failed not in _known_nodes(api) and new in _known_nodes(api),
        )
        said = [*cluster.said()]
        judged = [*_judged(said, fault=fault)]
        yield from judged
        yield succeeds("hyperpod-cdk train follows the job to its end", output if code else None)
        if all(check.ok for check in judged):
            stage.training = _report(said, fault=fault, failed=failed, new=new)
            for what, fact in stage.training.facts.items():
                stage.progress.say(f"  {what}: {fact}")
        deleted, output = stage.tools.run(f"kubectl delete pytorchjob {_JOB}")
        yield succeeds("the job is deleted", None if deleted else output)


@contextmanager
def _submitted(stage: Stage, api: KubernetesApi) -> Iterator[Future[tuple[int, str]]]:
    """Submit the job and follow it; what interrupts that deletes it, so that no one follows it."""
    with ThreadPoolExecutor(max_workers=1) as user:
        submitted = user.submit(_train, stage)
        try:
            yield submitted
        finally:
            for job in () if submitted.done() else api.objects(API_VERSION, KIND, _NAMESPACE):
                api.delete(API_VERSION, KIND, job["metadata"]["name"], namespace=_NAMESPACE)


def _train(stage: Stage) -> tuple[int, str]:
    """Submit the job, and follow it, as a user who may; return the exit code and the output."""
    values = stage.work_directory / "training" / "values.yaml"
    values.write_text(yaml.safe_dump(dict(_VALUES)), encoding="utf-8")
    named = ("--name", _JOB, "--namespace", _NAMESPACE, "--group", _GROUP)
    return stage.look(
        *("train", "--values", str(values), *named, "--every", "1", "--yes"),
        credentials=operator_credentials(stage),
    )


def _nodes_of(api: KubernetesApi) -> dict[str, str]:
    """Return the nodes of the job's pods, by the name of the pod."""
    return {
        pod["metadata"]["name"]: pod["spec"].get("nodeName", "")
        for pod in api.objects("v1", "Pod", _NAMESPACE)
        if (pod["metadata"].get("labels") or {}).get(JOB_LABEL) == _JOB
    }


def _known_nodes(api: KubernetesApi) -> set[str]:
    return {node["metadata"]["name"] for node in api.objects("v1", "Node")}


def _reaches(cluster: TrainingCluster, step: int) -> bool:
    return any(event.name == "step" and event.step >= step for event in cluster.said())


def _resumed(said: Iterable[Said], fault: float) -> Said | None:
    return next((event for event in said if event.name == "resumed" and event.time > fault), None)


def _judged(said: list[Said], *, fault: float) -> Iterator[Fact]:
    """Yield the checks of what the training program said before the fault and after it."""
    resumed = _resumed(said, fault)
    yield Fact(title="the job goes on from a checkpoint", ok=resumed is not None)
    if resumed is None:
        return
    first = {e.step: e.fields["loss"] for e in said if e.name == "step" and e.time < resumed.time}
    again = {e.step: e.fields["loss"] for e in said if e.name == "step" and e.time > resumed.time}
    saved = max((e.step for e in said if e.name == "saved" and e.time < resumed.time), default=0)
    lost = max(first) - resumed.step
    yield Fact(
        title=f"no step is lost but the {lost} since the checkpoint of step {saved}",
        ok=resumed.step == saved
        and {*range(1, saved + 1)} <= first.keys()
        and [*again] == [*range(saved + 1, _STEPS + 1)]
        and said[-1].name == "done",
    )
    same = [step for step in first.keys() & again.keys() if first[step] == again[step]]
    yield Fact(
        title=f"the loss curve goes on: the {lost} steps have the same losses again",
        ok=len(same) == lost
        and 1 in first
        and _STEPS in again
        and again[_STEPS] < first[max(first)] < first[1],
    )


def _report(said: list[Said], *, fault: float, failed: str, new: str) -> TrainingReport:
    resumed = _resumed(said, fault)
    assert resumed is not None  # noqa: S101 - it was judged
    steps = [event for event in said if event.name == "step"]
    begun = steps[0].time
    last = max(
        (event for event in steps if event.time < resumed.time), key=lambda event: event.step
    )
    # Processes that are told to end save where they are, and then no step is repeated.
    back = next(e for e in steps if e.time > resumed.time and e.step >= last.step)
    return TrainingReport(
        nodes=_NODES,
        points=[(round(e.time - begun, 2), e.step, float(e.fields["loss"])) for e in steps],
        fault_seconds=round(fault - begun, 2),
        back_seconds=round(back.time - begun, 2),
        checkpoint=resumed.step,
        lost_steps=last.step - resumed.step,
        lost_seconds=round(back.time - last.time, 2),
        failed_node=failed,
        new_node=new,
    )
