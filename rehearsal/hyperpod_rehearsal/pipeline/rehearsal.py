"""Plays a pipeline: a first push, a change, and three mistakes, for all of its environments."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hyperpod_cdk import Loaded, PipelineConfig
from hyperpod_cdk.synthesis.assets import CHECKOUT
from hyperpod_cli.terminal.errors import OpsError
from hyperpod_rehearsal import REPOSITORY
from hyperpod_rehearsal.pipeline.cloud_formation import StackActions
from hyperpod_rehearsal.pipeline.definition import PipelineDefinition
from hyperpod_rehearsal.pipeline.execution import BuildPlace, Execution, image_tools
from hyperpod_rehearsal.pipeline.places import RegionRouter, RehearsedEnvironment, start_places
from hyperpod_rehearsal.pipeline.repository import Repository
from hyperpod_rehearsal.progress import Progress
from hyperpod_rehearsal.report import Fact
from hyperpod_rehearsal.stand_in_chart import ChartChoice

CHECKS = ".ci/run"
"""The command of the pipeline's build that takes minutes."""


@dataclass(kw_only=True, slots=True)
class PipelineRehearsal:
    """A pipeline, and whether its builds check what was pushed, which takes minutes."""

    loaded: Loaded
    config_path: Path
    chart: ChartChoice
    work_directory: Path
    checks: bool
    progress: Progress
    _repository: Repository = field(init=False)
    _definition: PipelineDefinition = field(init=False)
    _places: Sequence[RehearsedEnvironment] = field(init=False, default=())
    _stacks: Mapping[str, StackActions] = field(init=False, default_factory=dict)
    _endpoint: str = field(init=False, default="")
    _pushes: int = field(init=False, default=0)

    def run(self) -> list[Fact]:
        """Play it; return what was found.

        Raises:
            OpsError: The pipeline cannot be rehearsed.
            AppRefusedError: The app refused a configuration.
            CdkError: An account could not be bootstrapped.
            LocalAwsError: A local AWS did not start.
        """
        if CHECKOUT is None or not CHECKOUT.samefile(Path.cwd()):
            raise OpsError(
                "rehearse pipeline: pushes the checkout of hyperpod-cdk that it runs in, and this "
                "folder is none; clone the project, and run the command there"
            )
        shutil.rmtree(self.work_directory, ignore_errors=True)
        self.work_directory.mkdir(parents=True)
        if not self.checks:
            self.progress.say(
                f"Left out, as asked for: {CHECKS} in builds, and their set-up of tools; they use "
                "this project's"
            )
        self._repository = Repository(
            path=self.work_directory / "repository",
            chart=self.chart.path,
            shares_tools=not self.checks,
        )
        self._repository.create()
        checks = []
        with ExitStack() as started:
            self.progress.say("Starting a local AWS for each environment ...")
            self._places = start_places(self.loaded, directory=self.work_directory, started=started)
            endpoints = {place.region: place.environment.aws.endpoint for place in self._places}
            self._endpoint = started.enter_context(RegionRouter(endpoints)).endpoint
            self._prepare()
            for check in self._play():
                checks.append(check)
                self.progress.say(f"  {'ok  ' if check.ok else 'FAIL'} {check.title}")
        return checks

    @property
    def _pipeline(self) -> PipelineConfig:
        if self.loaded.pipeline is None:
            raise OpsError(f"{self.config_path}: describes no pipeline.")
        return self.loaded.pipeline

    def _prepare(self) -> None:
        """Do what comes before the first push: bootstrap, and synthesize the pipeline."""
        assembly = self.work_directory / "cdk.out"
        with self.progress.step(f"Synthesizing {self.config_path} with {self.chart.description}"):
            self._places[0].cli(assembly=assembly, chart=self.chart.path).synth(
                config=self.config_path, validate=False, on_line=lambda _: None
            )
        self._definition = PipelineDefinition(
            assembly / f"{self._pipeline.name}-pipeline.template.json"
        )
        stacks = {}
        for place in self._places:
            folder = assembly / f"assembly-{place.section.name}"
            account = place.environment.aws.account
            with self.progress.step(f"cdk bootstrap aws://{account}/{place.region}"):
                cli = place.cli(assembly=folder, chart=self.chart.path)
                place.bootstrap(cli=cli, trusted=self._pipeline.account)
            actions = place.stack_actions(pipeline_account=self._pipeline.account)
            # An action that names no region is in the pipeline's own.
            stacks[place.region if place.region != self._pipeline.region else ""] = actions
        self._stacks = stacks

    def _play(self) -> Iterator[Fact]:
        first, *others = self._places
        yield from self._first_push()
        yield from self._change()
        config = first.config_path.resolve().relative_to(REPOSITORY)

        def misspell(document: dict[str, Any]) -> None:
            document["cluster"]["instance_groups"][0]["instance_type"] = "ml.none"

        self._repository.push(config, misspell, message="A type that does not exist")
        yield from self._mistake("Build", "is not a HyperPod instance type", others=others)

        def weaken(document: dict[str, Any]) -> None:
            for environment in document["pipeline"]["environments"]:
                environment["approval"] = not environment.get("approval", False)
                environment.pop("rehearse_change", None)

        path = self.config_path.resolve().relative_to(REPOSITORY)
        self._repository.push(path, weaken, message="Other approvals")
        yield from self._mistake(
            "CheckPipeline", "changes the pipeline itself", others=self._places
        )

        def rename(document: dict[str, Any]) -> None:
            document["cluster"]["name"] = f"{first.config.cluster.name}-2"

        self._repository.push(config, rename, message="Another name for the cluster")
        yield from self._mistake(first.section.name, "cannot be changed", others=others)

    def _first_push(self) -> Iterator[Fact]:
        execution = self._execute("the first push")
        yield Fact(title="the first push is deployed to all environments", ok=not execution.error)
        approvals = sum(place.section.approval for place in self._places)
        shown = [comment for comment in execution.comments if "creates" in comment]
        yield Fact(title="approvers read what changes", ok=len(shown) == approvals)
        if execution.error is not None:
            return
        for place in self._places:
            failed = [check.title for check in place.verify() if not check.ok]
            yield Fact(title=f"{place.section.name}: all of it works", ok=not failed)
            for name in failed:
                yield Fact(title=f"{place.section.name}: {name}", ok=False)

    def _change(self) -> Iterator[Fact]:
        before = [place.nodes() for place in self._places]

        def grow(document: dict[str, Any]) -> None:
            document["cluster"]["instance_groups"][0]["instance_count"] += 1

        for path in dict.fromkeys(place.config_path for place in self._places):
            config = path.resolve().relative_to(REPOSITORY)
            self._repository.push(config, grow, message=f"A node more in {config.name}")
        execution = self._execute("a change of the configurations")
        grown = [place.nodes() for place in self._places]
        yield Fact(
            title="a changed configuration is deployed to all environments",
            ok=execution.error is None and grown == [nodes + 1 for nodes in before],
        )
        rehearsed = sum(place.section.rehearse_change for place in self._places)
        shown = [text for text in execution.comments if "Rehearsed: nothing would be lost" in text]
        if rehearsed:
            yield Fact(title="approvers read what a rehearsal says", ok=len(shown) == rehearsed)

    def _mistake(
        self, stage: str, reason: str, *, others: Sequence[RehearsedEnvironment]
    ) -> Iterator[Fact]:
        """Yield whether what was pushed is stopped there, before others; take it back."""
        execution = self._execute(f"a mistake that {stage} must stop")
        error = execution.error or ""
        yield Fact(
            title=f"a mistake stops in {stage} and is named",
            ok=execution.stages[-1] == stage and reason in error,
            message=error,
        )
        reached = [place.section.name for place in others if place.section.name in execution.stages]
        names = ", ".join(place.section.name for place in others)
        yield Fact(title=f"it does not reach {names}", ok=not reached)
        self._repository.revert()

    def _execute(self, what: str) -> Execution:
        self._pushes += 1
        folder = self.work_directory / f"execution-{self._pushes}"
        folder.mkdir()
        self.progress.say(f"Execution {self._pushes}, for {what}")
        place = BuildPlace(
            aws=self._aws,
            account=self._pipeline.account,
            region=self._pipeline.region,
            tools=image_tools(folder / "tools"),
            shares_tools=not self.checks,
        )
        execution = Execution(
            definition=self._definition,
            repository=self._repository,
            # What was pushed runs without credentials, and with an address of AWS for its chart.
            synth_place=replace(
                place,
                aws={} if self._pipeline.chart is None else self._aws,
                left_out=[] if self.checks else [CHECKS],
            ),
            place=place,
            stacks=self._stacks,
            folder=folder,
            progress=self.progress,
        )
        execution.run()
        return execution

    @property
    def _aws(self) -> Mapping[str, str]:
        variables = {
            "AWS_ENDPOINT_URL": self._endpoint,
            "AWS_ACCESS_KEY_ID": self._pipeline.account,
        }
        return {**self._places[0].environment.aws.environment(), **variables}
