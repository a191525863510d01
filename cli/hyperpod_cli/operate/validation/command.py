"""`validate-nodes`: refuses what cannot work, runs the checks, shows and writes what they found."""

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any

import typer

from hyperpod_cdk.facts.deep_learning_containers import BASE_IMAGES
from hyperpod_cdk.facts.fabric import BANDWIDTH_FLOORS
from hyperpod_cdk.facts.job_resources import GPU
from hyperpod_cli.aws.kubernetes_api import kubernetes_api
from hyperpod_cli.operate import job_charts
from hyperpod_cli.operate.clusters import Chosen
from hyperpod_cli.operate.job_charts import built_images
from hyperpod_cli.operate.job_options import CHECKS, Options
from hyperpod_cli.operate.orchestrators import orchestrator_of
from hyperpod_cli.operate.validation import fabric
from hyperpod_cli.operate.validation.bisection import Nodes
from hyperpod_cli.operate.validation.findings import (
    Finding,
    Result,
    advice,
    as_json,
    counted,
    is_ok,
    junit,
    summary,
    table,
)
from hyperpod_cli.operate.validation.parsing import node_findings
from hyperpod_cli.operate.validation.recorded import FOLDER, Measurement, Recorded, recorded
from hyperpod_cli.operate.validation.request import refuse_what_cannot_work
from hyperpod_cli.operate.validation.targets import TestedNode, accelerated_groups, targets
from hyperpod_cli.operate.validation.work import JOB, MPI_JOB, MPI_ROLE, JobOutcome, Runner, Work
from hyperpod_cli.terminal.atomic_file import PUBLIC, replace_file
from hyperpod_cli.terminal.console import console
from hyperpod_cli.terminal.errors import FAILED, INTERRUPTED, OpsError

_FEWEST = 2
_BACKENDS = ("c10d", "etcd")
_LACKS = (
    "for what the image lacks, build the training image (docs: images), or name an image that "
    "has it with --image"
)


def run(options: Options, chosen: Chosen) -> None:
    """Run the command."""
    for check in options.checks:
        if check not in CHECKS:
            raise OpsError(f"--check: {check!r} must be one of: {', '.join(CHECKS)}")
    config = chosen.config
    node_groups = (
        {} if config is None else {group.name: group.instance_types for group in config.node_groups}
    )
    if config is not None and node_groups and not config.cluster.exists:
        cluster, name, eks_cluster = None, config.name, config.eks_cluster_name
    else:
        cluster = chosen.cluster()
        name = cluster.name
        eks_cluster = orchestrator_of(cluster).eks_cluster_name("validate-nodes")
    groups = accelerated_groups(cluster, node_groups=node_groups, name=name, group=options.group)
    images = {} if config is None else built_images(chosen.session, deployment=config.name)
    connect = partial(kubernetes_api, chosen.session, eks_cluster=eks_cluster)
    with connect() as api:
        nodes = targets(
            api,
            cluster=None if cluster is None else name,
            groups=groups,
            node_groups=node_groups.keys() & groups,
            busy_too=options.include_busy,
        )
        refuse_what_cannot_work(api, nodes, options)
    file = FOLDER / f"{chosen.session.region}-{name}.json"
    about = {
        "cluster": name,
        "groups": groups,
        "image": options.image,
        "namespace": options.namespace,
    }
    state = recorded(file, about=about, fresh=options.fresh)
    runner = Runner(
        connect=connect,
        namespace=options.namespace,
        recorded=state,
        timeout_seconds=60.0 * options.timeout_minutes,
        every_seconds=options.every_seconds,
    )
    if state.submitted:
        left = counted(len(state.submitted), "object")
        typer.echo(f"Deleting {left} that an interrupted run left behind.")
        runner.delete([*state.submitted])
    if state.findings or state.measured:
        typer.echo(f"Continuing from {file}. To start over, use --fresh.")
    try:
        try:
            validation = _Validation(
                options=options, nodes=nodes, state=state, runner=runner, images=images
            )
            findings = [*validation.findings()]
        finally:
            if state.submitted:
                runner.delete([*state.submitted])
    except KeyboardInterrupt:
        typer.echo(
            "Interrupted. The jobs are deleted, and the results are kept. To continue, run the "
            "command again.",
            err=True,
        )
        raise typer.Exit(INTERRUPTED) from None
    _tell(findings, state, options, types=sorted({node.instance_type for node in nodes}))
    state.done()
    if not is_ok(findings):
        raise typer.Exit(FAILED)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Validation:
    """A run of the checks."""

    options: Options
    nodes: Sequence[TestedNode]
    state: Recorded
    runner: Runner
    images: Mapping[str, str]
    names: Iterator[str] = field(
        default_factory=lambda: map(f"validation-{secrets.token_hex(3)}-{{}}".format, count(1))
    )

    def findings(self) -> Iterator[Finding]:
        """Run the checks, and yield what they find."""
        for node in self.nodes:
            if node.trouble:
                yield _skipped("node", node.name, node.trouble)
        able = [node for node in self.nodes if not node.trouble]
        checks = self.options.checks
        if "node" in checks:
            findings = [*self._of_nodes(able)]
            yield from findings
            # They would only let the others wait, or be slow.
            bad = {finding.subject for finding in findings if finding.result is Result.FAILED}
            able = [node for node in able if node.name not in bad]
        if "fabric" in checks:
            yield from self._of_fabric(able)
        if "storage" in checks and able:
            yield from self._of_storage(able[0])
        if "rendezvous" in checks:
            yield from self._of_rendezvous(able)

    def _work(
        self, check: str, nodes: Sequence[TestedNode], **values: Any
    ) -> tuple[str, list[job_charts.Object]]:
        name = next(self.names)
        resources = nodes[0].resources
        is_ours = check == "fabric" or (check == "node" and resources.accelerator == GPU)
        base = BASE_IMAGES["GPU" if resources.accelerator == GPU else "Neuron"]
        built = None if is_ours else self.images.get(base.name)
        image = self.options.image or built
        objects = job_charts.rendered(
            "validation",
            name=name,
            namespace=self.options.namespace,
            values={
                "check": check,
                "nodes": [{"name": node.name, "offers": dict(node.offers)} for node in nodes],
                "resources": {
                    "accelerator": resources.accelerator,
                    "accelerators": resources.accelerators,
                    "efa": resources.efa,
                    "hugepages2Mi": f"{resources.hugepages_2mi_mib}Mi",
                    "cpu": resources.cpu,
                    "memory": f"{resources.memory_gib}Gi",
                },
                "timeoutSeconds": 60 * self.options.timeout_minutes,
                **({"image": image} if image else {}),
                **values,
            },
        )
        return name, objects

    def _of_nodes(self, nodes: Sequence[TestedNode]) -> Iterator[Finding]:
        missing = [node for node in nodes if f"node {node.name}" not in self.state.findings]
        types = {node.instance_type for node in missing}
        works: list[Work] = []
        shared: list[job_charts.Object] = []
        for kind in sorted(types):
            _, objects = self._work("node", [n for n in missing if n.instance_type == kind])
            jobs = [item for item in objects if item["kind"] == "Job"]
            shared += [item for item in objects if item["kind"] != "Job"]
            works += [
                Work(objects=[job], written_by={JOB: job["metadata"]["name"]}) for job in jobs
            ]
        if works:
            typer.echo(f"Checking {counted(len(works), 'node')}.")
        for work, outcome in self.runner.run(works, shared=shared):
            name = work.objects[-1]["metadata"]["annotations"]["hyperpod-cdk/node"]
            lines = [line for pod_lines in outcome.lines.values() for line in pod_lines]
            findings = [*node_findings(lines, subject=name)]
            if not findings:
                why = outcome.error or (lines[-1] if lines else "the check wrote nothing")
                findings = [_without_result("node", name, why, outcome)]
            self.state.keep(f"node {name}", _advised(findings, node=name))
        for node in nodes:
            yield from self.state.findings[f"node {node.name}"]

    def _of_fabric(self, nodes: Sequence[TestedNode]) -> Iterator[Finding]:
        for kind in sorted({node.instance_type for node in nodes}):
            of_type = {node.name: node for node in nodes if node.instance_type == kind}
            resources = next(iter(of_type.values())).resources
            if resources.accelerator != GPU:
                yield _skipped(fabric.CHECK, kind, "NCCL runs on GPUs; on Trainium, use nccom-test")
                continue
            if len(of_type) < _FEWEST:
                yield _skipped(fabric.CHECK, kind, "needs two idle, healthy nodes of this type")
                continue
            try:
                yield from fabric.fabric_findings(
                    tuple(of_type),
                    floor=BANDWIDTH_FLOORS.get(kind),
                    recorded=self.state,
                    measure=partial(self._measured, of_type),
                )
            except fabric.UnmeasuredError as error:
                yield _skipped(fabric.CHECK, kind, f"{error}; run it again")

    def _measured(
        self, nodes: dict[str, TestedNode], groups: Sequence[Nodes]
    ) -> Iterator[Measurement]:
        works: dict[int, Nodes] = {}
        listed = []
        for group in groups:
            name, objects = self._work("fabric", [nodes[index] for index in group])
            launcher = {MPI_JOB: name, MPI_ROLE: "launcher"}
            work = Work(objects=objects, written_by=launcher, all_pods={MPI_JOB: name})
            works[id(work)] = group
            listed.append(work)
        sizes = " or ".join(str(size) for size in sorted({len(group) for group in groups}))
        several = f"{len(groups)} groups of " if len(groups) > 1 else ""
        typer.echo(f"Round {self.state.rounds}: all-reduce across {several}{sizes} nodes.")
        with closing(self.runner.run(listed)) as ended:
            for work, outcome in ended:
                yield fabric.measurement(works[id(work)], outcome)

    def _of_storage(self, node: TestedNode) -> Iterator[Finding]:
        claim = {"name": self.options.claim, "mountPath": "/fsx"}
        yield from self._single("storage", [node], subject=self.options.claim, claim=claim)

    def _of_rendezvous(self, nodes: Sequence[TestedNode]) -> Iterator[Finding]:
        if len(nodes) < _FEWEST:
            yield _skipped(
                "rendezvous", counted(len(nodes), "node"), "needs two idle, healthy nodes"
            )
            return
        for backend in _BACKENDS:
            subject = f"{len(nodes)} nodes"
            yield from self._single(
                "rendezvous", nodes, key=backend, subject=subject, backend=backend
            )

    def _single(
        self,
        check: str,
        nodes: Sequence[TestedNode],
        *,
        subject: str,
        key: str = "",
        **values: Any,
    ) -> Iterator[Finding]:
        """Run a job whose pods all say the same, or what is wrong."""
        kept, told_as = f"{check} {key} {subject}", " ".join(filter(None, (check, key)))
        if kept not in self.state.findings:
            typer.echo(f"Checking {told_as}: {subject}.")
            name, objects = self._work(check, nodes, **values)
            work = Work(objects=objects, written_by={JOB: name}, pods=len(nodes))
            for _, outcome in self.runner.run([work]):
                findings = [
                    finding
                    for lines in outcome.lines.values()
                    for finding in node_findings(lines, subject=subject)
                ]
                bad = [finding for finding in findings if finding.result is Result.FAILED]
                shown = bad[:1] or [*dict.fromkeys(findings)][: 2 if check == "storage" else 1]
                why = outcome.error or "the check wrote nothing"
                self.state.keep(kept, shown or [_without_result(told_as, subject, why, outcome)])
        yield from self.state.findings[kept]


def _without_result(check: str, subject: str, found: str, outcome: JobOutcome) -> Finding:
    result = Result.FAILED if outcome.is_of_nodes else Result.SKIPPED
    return Finding(check=check, subject=subject, result=result, found=found)


def _skipped(check: str, subject: str, found: str) -> Finding:
    return Finding(check=check, subject=subject, result=Result.SKIPPED, found=found)


def _advised(findings: Sequence[Finding], *, node: str = "") -> list[Finding]:
    """Return findings with what to do about those that failed on a node, or lack a program."""

    def to_do(finding: Finding) -> str:
        if finding.result is Result.FAILED and node:
            return f"hyperpod-cdk replace {node}"
        return _LACKS if finding.found.startswith("the image has no") else ""

    return [replace(finding, advice=to_do(finding)) for finding in findings]


def _tell(
    findings: Sequence[Finding], state: Recorded, options: Options, *, types: Sequence[str]
) -> None:
    out = console()
    out.print(table(findings))
    floors = {name: floor for name, floor in BANDWIDTH_FLOORS.items() if name in types}
    for name, floor in floors.items():
        out.print(f"The floor of {name}, {floor.gb_per_second:g} GB/s, is of {floor.source}")
    out.print(f"{summary(findings)} The page validate-nodes of the docs says what each means.")
    for line in advice(findings):
        out.print(f"  {line}")
    if options.json is not None:
        measured = [
            {"nodes": run.nodes, "gb_per_second": run.bus_bandwidth, "provider": run.provider}
            for run in state.measured
        ]
        sources = {name: asdict(floor) for name, floor in floors.items()}
        content = as_json(
            findings, **state.about, floors=sources, rounds=state.rounds, measured=measured
        )
        replace_file(options.json, json.dumps(content, indent=2) + "\n", mode=PUBLIC)
    if options.junit is not None:
        replace_file(options.junit, junit(findings), mode=PUBLIC)
