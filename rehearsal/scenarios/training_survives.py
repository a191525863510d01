"""A scenario in which a GPU node fails under a job, which goes on from its last checkpoint."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from emulator.kubernetes import KubernetesApi
from emulator.kubernetes.training_operator import API_VERSION, JOB_LABEL, KIND
from hyperpod_cdk import Config
from rehearsal.report import Fact
from rehearsal.scenarios.scenario import Scenario, all_nodes_run, needs, succeeds
from rehearsal.stage import Stage
from rehearsal.training import IMAGE, Said, TrainingCluster, TrainingReport, lacks_training

_CHART = Path(__file__).resolve().parents[2] / "charts" / "training"
_JOB, _NAMESPACE = "training-survives", "default"
_GROUP = "training"
# One GPU to a node, so that one process trains on each.
_TYPE, _NODES = "ml.g5.2xlarge", 2
_STEPS, _FAULT_AFTER = 200, 100
_VALUES: Mapping[str, object] = {
    "image": IMAGE,
    "instanceType": _TYPE,
    "group": _GROUP,
    "nodes": _NODES,
    "secret": "",
    "terminationGracePeriodSeconds": 30,
    "arguments.model": "tiny",
    "arguments.dataset": "synthetic",
    "arguments.sequence-length": 64,
    "arguments.global-batch-size": 8,
    "arguments.micro-batch-size": 4,
    "arguments.learning-rate": 0.001,
    "arguments.max-steps": _STEPS,
    "arguments.checkpoint-every": 40,
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


def _training_survives(stage: Stage) -> Iterator[Fact]:
    api = stage.environment.kubernetes
    assert isinstance(api, KubernetesApi)  # noqa: S101 - another one runs pods by itself
    stage.change(_with_group)
    yield succeeds(f"a deployment with {_NODES} nodes of {_TYPE} works", stage.deploy())
    yield all_nodes_run(stage)
    with TrainingCluster(api, stage.work_directory / "training") as cluster:
        values = " ".join(shlex.quote(f"--set={key}={value}") for key, value in _VALUES.items())
        begun = time.time()
        done, told = stage.tools.run(f"helm template {_JOB} {_CHART} {values}")
        if done:
            manifest = stage.work_directory / "training" / "job.yaml"
            manifest.write_text(told, encoding="utf-8")
            done, told = stage.tools.run(f"kubectl apply -f {shlex.quote(str(manifest))}")
        yield succeeds("the job is submitted", None if done else told)
        with stage.progress.step("Training, until a node fails"):
            cluster.wait(lambda: _reaches(cluster, _FAULT_AFTER))
        before = _nodes_of(api)
        yield Fact(
            check=f"it trains on {_NODES} nodes: {', '.join(sorted(before.values()))}",
            ok=len({*before.values()}) == _NODES and _reaches(cluster, _FAULT_AFTER),
        )
        # Not the node of the first worker, which all others meet at.
        failed = before[max(before)]
        fault = cluster.fail(failed)
        stage.progress.say(f"  {failed}: NVRM: Xid 74 in /var/log/messages")
        with stage.progress.step("Waiting for the job's end"):
            cluster.wait(lambda: _has_ended(api))
        after = _nodes_of(api)
        said = [*cluster.said()]
        yield Fact(
            check=f"HyperPod replaced {failed} by {after[max(after)]}, and the job went on there",
            ok=failed not in _known_nodes(api) and failed not in after.values(),
        )
        yield from _judged(said, fault=fault, found=cluster.last_lines())
        yield _read_by_kubectl(stage)
        stage.training = _report(
            said, begun=begun, fault=fault, failed=failed, new=after[max(after)]
        )
        stage.progress.say("  " + "; ".join(f"{k}: {v}" for k, v in stage.training.facts.items()))
        deleted, told = stage.tools.run(f"kubectl delete pytorchjob {_JOB}")
        yield succeeds("the job is deleted", None if deleted else told)


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
    return any(each.name == "step" and each.step >= step for each in cluster.said())


def _has_ended(api: KubernetesApi) -> bool:
    [job] = api.objects(API_VERSION, KIND, _NAMESPACE)
    held = {each["type"] for each in job["status"]["conditions"] if each["status"] == "True"}
    return bool(held & {"Succeeded", "Failed"})


def _judged(said: list[Said], *, fault: float, found: str) -> Iterator[Fact]:
    """Yield the checks of what the training program said before the fault and after it."""
    resumed = next((each for each in said if each.name == "resumed" and each.time > fault), None)
    yield Fact(check="the job goes on from a checkpoint", ok=resumed is not None, found=found)
    if resumed is None:
        return
    first = {e.step: e.fields["loss"] for e in said if e.name == "step" and e.time < resumed.time}
    again = {e.step: e.fields["loss"] for e in said if e.name == "step" and e.time > resumed.time}
    saved = max(e.step for e in said if e.name == "saved" and e.time < resumed.time)
    lost = max(first) - resumed.step
    yield Fact(
        check=f"no step is lost but the {lost} since the checkpoint of step {saved}",
        ok=resumed.step == saved
        and {*range(1, saved + 1)} <= first.keys()
        and [*again] == [*range(saved + 1, _STEPS + 1)]
        and said[-1].name == "done",
        found=f"{resumed.fields}, then {[*again][:1]} to {[*again][-1:]}",
    )
    same = [step for step in first.keys() & again.keys() if first[step] == again[step]]
    yield Fact(
        check=f"the loss curve goes on: the {lost} steps have the same losses again",
        ok=len(same) == lost and again[_STEPS] < first[max(first)] < first[1],
        found=f"{len(same)} of them",
    )


def _read_by_kubectl(stage: Stage) -> Fact:
    told = [stage.tools.run(f"kubectl logs {_JOB}-worker-{index}")[1] for index in range(_NODES)]
    done = f'{{"event": "done", "step": {_STEPS}}}'
    ok = any(done in each for each in told)
    return Fact(check="kubectl logs shows its end", ok=ok, found="" if ok else " ".join(told))


def _report(
    said: list[Said], *, begun: float, fault: float, failed: str, new: str
) -> TrainingReport:
    resumed = next(each for each in said if each.name == "resumed" and each.time > fault)
    steps = [each for each in said if each.name == "step"]
    last = max((each for each in steps if each.time < resumed.time), key=lambda each: each.step)
    back = next(e for e in steps if e.time > resumed.time and e.step == last.step)
    return TrainingReport(
        nodes=_NODES,
        points=[(round(e.time - begun, 2), e.step, float(e.fields["loss"])) for e in steps],
        fault_seconds=round(fault - begun, 2),
        back_seconds=round(back.time - begun, 2),
        checkpoint=resumed.step,
        lost_steps=last.step - resumed.step,
        lost_minutes=round((back.time - last.time) / 60, 2),
        failed_node=failed,
        new_node=new,
    )


SCENARIOS = (
    Scenario(
        name="training-survives",
        summary="a GPU node fails under a job that trains on this machine",
        play=_training_survives,
        on_a_deployment=True,
        lacking=needs({"cluster.node_recovery": "Automatic"}, also=_lacks_claim),
        machine_lacks=lacks_training,
    ),
)
