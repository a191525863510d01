"""One execution of a pipeline: its stages, and the actions in each, in their order."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from rehearsal.pipeline.build import BuildFailedError, BuildPlace
from rehearsal.pipeline.cloud_formation import StackActions, StackFailedError
from rehearsal.pipeline.definition import Action, PipelineDefinition, with_variables
from rehearsal.pipeline.repository import Repository
from rehearsal.progress import Progress

# The stages that CDK Pipelines names itself.
_SYNTH, _SELF_MUTATION = "Build", "UpdatePipeline"


@dataclass(kw_only=True, slots=True)
class Execution:
    """What one push starts.

    Attributes:
        definition: The pipeline in force; its second stage may put another one in force.
        template: Name of its template in the cloud assembly.
        repository: What was pushed to.
        synth_place: Where what was pushed is checked and synthesized, without rights.
        place: Where other builds run.
        stacks: CloudFormation by region; the pipeline's own by the empty one.
        folder: Gets clones and logs.
        progress: Prints what is done.
        stages: Names of the stages that were entered.
        comments: What each approval showed.
        error: Why it stopped; None when all went well.
    """

    definition: PipelineDefinition
    template: str
    repository: Repository
    synth_place: BuildPlace
    place: BuildPlace
    stacks: Mapping[str, StackActions]
    folder: Path
    progress: Progress
    stages: list[str] = field(init=False, default_factory=list)
    comments: list[str] = field(init=False, default_factory=list)
    error: str | None = field(init=False, default=None)
    _artifacts: dict[str, Path] = field(init=False, default_factory=dict)
    _variables: dict[str, str] = field(init=False, default_factory=dict)

    def run(self) -> None:
        """Run it to its end, or to the first failure."""
        for stage in self.definition.stages:
            self.stages.append(stage.name)
            for actions in stage.in_order():
                names = ", ".join(action.name for action in actions)
                with self.progress.step(f"  {stage.name}: {names}"):
                    self.error = self._side_by_side(actions, stage=stage.name)
                if self.error is not None:
                    self.progress.say(f"  stopped in {stage.name}: {self.error}")
                    return

    def _side_by_side(self, actions: list[Action], *, stage: str) -> str | None:
        if len(actions) == 1:  # a build ends at once when this thread is interrupted
            return self._try(actions[0], stage=stage)
        with ThreadPoolExecutor() as pool:
            errors = list(pool.map(lambda action: self._try(action, stage=stage), actions))
        return "\n".join(filter(None, errors)) or None

    def _try(self, action: Action, *, stage: str) -> str | None:
        try:
            self._run(action, stage=stage)
        except (BuildFailedError, StackFailedError) as error:
            return str(error)
        return None

    def _run(self, action: Action, *, stage: str) -> None:
        match action.category:
            case "Source":
                (name,) = action.outputs
                self._artifacts[name] = self.repository.path
            case "Build" if stage == _SELF_MUTATION:
                self._update_pipeline(self._artifacts[action.inputs[0]])
            case "Build":
                self._build(action, place=self.synth_place if stage == _SYNTH else self.place)
            case "Approval":
                comment = with_variables(action.configuration["CustomData"], self._variables)
                self.comments.append(comment)
                self.progress.say(f"    {action.name}: approved, having read: {comment}")
            case _:
                self.stacks[action.region].run(
                    action,
                    template=self._file_of(action, "TemplatePath"),
                    configuration=self._file_of(action, "TemplateConfiguration"),
                )

    def _file_of(self, action: Action, setting: str) -> Path | None:
        """Return a file that an action names as `artifact::path`."""
        name, _, path = action.configuration.get(setting, "").partition("::")
        return self._artifacts[name] / path if name else None

    def _update_pipeline(self, assembly: Path) -> None:
        """Put the definition in force that was synthesized.

        In AWS the build deploys the pipeline's stack, and a changed pipeline starts anew.
        """
        found = PipelineDefinition(assembly / self.template)
        changed = "changed, and" if found != self.definition else "the same, and"
        self.progress.say(
            f"    left out, as the local AWS has no CodePipeline: cdk deploy of the pipeline's own "
            f"stack; its template is {changed} in force from here"
        )
        self.definition = found

    def _build(self, action: Action, *, place: BuildPlace) -> None:
        sources = {name: self._source(name, action=action) for name in action.inputs}
        directory = next(iter(sources.values()))
        spec = self.definition.build_spec(action.configuration["ProjectName"], source=directory)
        exported = place.run(
            action.name,
            spec,
            sources=sources,
            log=self.folder / f"{action.name}.log",
            say=self.progress.say,
        )
        self._variables |= {f"{action.namespace}.{name}": value for name, value in exported.items()}
        for name in action.outputs:
            self._artifacts[name] = directory / spec.output

    def _source(self, artifact: str, *, action: Action) -> Path:
        """Return the folder of an artifact; of the repository, a clone for each build."""
        found = self._artifacts[artifact]
        if found != self.repository.path:
            return found
        clone = self.folder / action.name
        self.repository.clone(clone)
        return clone
