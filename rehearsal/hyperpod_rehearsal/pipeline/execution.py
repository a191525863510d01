"""An execution of the pipeline: its stages and their actions, and the builds among these."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from hyperpod_emulator.aws.local_aws import NODE_DIRECTORY
from hyperpod_rehearsal import REPOSITORY
from hyperpod_rehearsal.command_runner import start, stop
from hyperpod_rehearsal.pipeline.cloud_formation import StackActions, StackFailedError
from hyperpod_rehearsal.pipeline.definition import (
    BuildSpec,
    PipelineAction,
    PipelineDefinition,
    with_variables,
)
from hyperpod_rehearsal.pipeline.repository import Repository
from hyperpod_rehearsal.progress import Progress

_COMPILED = REPOSITORY / "build" / "node-compile-cache"
_LAST_LINES = 12
_ARN = "arn:aws:codebuild:{region}:{account}:build/{name}:{number}"
# As in pyproject.toml; an environment has them of the checkout that it is of.
_SOURCE_ROOTS = ("constructs", "stacks", "shared", "cli", "rehearsal")
# Of this machine's; all else of its environment would not be there in a build either.
_INHERITED = ("HOME", "LANG", "TMPDIR", "SSL_CERT_FILE", "REQUESTS_CA_BUNDLE")
_INHERITED_PREFIXES = ("PIP_", "NPM_CONFIG_", "npm_config_", "HTTP", "http", "NO_PROXY", "no_proxy")


class BuildFailedError(Exception):
    """A command of a build failed; the text is its last lines."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildPlace:
    """Where builds of the pipeline's account run, with variables that say where the local AWS is.

    The folder of tools has what the image of builds has; commands may be left out, as asked for.
    Clones that share this project's environment run their own code in it.
    """

    aws: Mapping[str, str]
    account: str
    region: str
    tools: Path
    shares_tools: bool
    left_out: Sequence[str] = ()

    def run(
        self,
        name: str,
        spec: BuildSpec,
        *,
        sources: Mapping[str, Path],
        variables: Mapping[str, str],
        log: Path,
        say: Callable[[str], None],
    ) -> dict[str, str]:
        """Run a build in the folder of its first artifact; return the variables that it exports.

        Raises:
            BuildFailedError: A command failed.
        """
        directory, *_ = sources.values()
        exports = log.with_suffix(".exports")
        exports.unlink(missing_ok=True)
        lines = ["set -e"]
        for command in spec.commands:
            if command in self.left_out:
                say(f"    left out: {command}")
            else:
                lines.append(command)
        lines += [
            f'printf "%s\\0" "{variable}=${variable}" >> {shlex.quote(str(exports))}'
            for variable in spec.exported
        ]
        self._run(
            "\n".join(lines),
            directory=directory,
            environment={**self._environment(name, sources), **variables},
            log=log,
        )
        if not exports.exists():
            return {}
        pairs = exports.read_text("utf-8").rstrip("\0").split("\0")
        return dict(pair.split("=", 1) for pair in pairs)

    def _run(
        self, script: str, *, directory: Path, environment: Mapping[str, str], log: Path
    ) -> None:
        with log.open("wb") as sink:
            process = start(
                ["bash", "-c", script],
                environment=environment,
                directory=directory,
                output=sink.fileno(),
            )
            try:
                code = process.wait()
            finally:
                stop(process)
        if code != 0:
            lines = log.read_text("utf-8", errors="replace").splitlines()
            last = [line for line in lines if line.strip()][-_LAST_LINES:]
            raise BuildFailedError("\n".join(last))

    def _environment(self, name: str, sources: Mapping[str, Path]) -> dict[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if key in _INHERITED or key.startswith(_INHERITED_PREFIXES)
        }
        path = [
            folder
            for folder in os.environ.get("PATH", os.defpath).split(os.pathsep)
            if not Path(folder).is_relative_to(REPOSITORY)
        ]
        arn = _ARN.format(region=self.region, account=self.account, name=name, number=1)
        directories = {
            f"CODEBUILD_SRC_DIR_{artifact}": str(folder) for artifact, folder in sources.items()
        }
        source = next(iter(sources.values()))
        code = os.pathsep.join(str(source / root) for root in _SOURCE_ROOTS)
        return {
            **kept,
            # To compile the CDK CLI takes longer than most of its commands do.
            "NODE_COMPILE_CACHE": str(_COMPILED),
            **directories,
            **self.aws,
            "PATH": os.pathsep.join([str(self.tools), *path, str(NODE_DIRECTORY), str(_BIN)]),
            "AWS_REGION": self.region,
            "AWS_DEFAULT_REGION": self.region,
            "CODEBUILD_BUILD_ARN": arn,
            "CODEBUILD_BUILD_ID": arn.rpartition("/")[2],
            "CODEBUILD_SRC_DIR": str(source),
            **({"PYTHONPATH": code} if self.shares_tools else {}),
        }


_BIN = REPOSITORY / "node_modules" / ".bin"


def image_tools(folder: Path, *, aws: Sequence[str] = ()) -> Path:
    """Write a folder, which must not be there, with Python and the AWS CLI, as the image of builds.

    This environment's own AWS CLI, unless another command stands in for it.
    """
    folder.mkdir()
    python = Path(sys.base_prefix, "bin", f"python3.{sys.version_info.minor}")
    installed = Path(sys.executable).with_name("aws")
    for name, command in {"python3": [str(python)], "aws": aws or [str(installed)]}.items():
        # No links: Python would look for its library next to one.
        arguments = "" if command is aws else ' "$@"'
        text = f"#!/bin/sh\nexec {shlex.join(command)}{arguments}\n"
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o755)
    return folder


# The stages of each pipeline that run another way here.
_SYNTH, _CHECK = "Build", "CheckPipeline"


@dataclass(kw_only=True, slots=True)
class Execution:
    """What one push starts: builds of what was pushed in a place without rights, others in another.

    CloudFormation is by region, the pipeline's own by the empty one. Afterwards, it has the stages
    that were entered, what each approval showed, and why it stopped.
    """

    definition: PipelineDefinition
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

    def _side_by_side(self, actions: list[PipelineAction], *, stage: str) -> str | None:
        if len(actions) == 1:  # a build ends at once when this thread is interrupted
            return self._try(actions[0], stage=stage)
        with ThreadPoolExecutor() as pool:
            errors = list(pool.map(lambda action: self._try(action, stage=stage), actions))
        return "\n".join(filter(None, errors)) or None

    def _try(self, action: PipelineAction, *, stage: str) -> str | None:
        try:
            self._run(action, stage=stage)
        except (BuildFailedError, StackFailedError) as error:
            return str(error)
        return None

    def _run(self, action: PipelineAction, *, stage: str) -> None:
        match action.category:
            case "Source":
                (name,) = action.outputs
                self._artifacts[name] = self.repository.path
                self._variables[f"{action.namespace}.CommitId"] = self.repository.commit
            case "Build" if stage == _CHECK:
                self._build(action, place=self._with_template_in_force())
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

    def _file_of(self, action: PipelineAction, setting: str) -> Path | None:
        """Return a file that an action names as `artifact::path`."""
        name, _, path = action.configuration.get(setting, "").partition("::")
        return self._artifacts[name] / path if name else None

    def _with_template_in_force(self) -> BuildPlace:
        """Return where a build reads the pipeline's template, as its stack would have it."""
        self.progress.say(
            "    left out, as the local AWS has no CodePipeline: get-template of the pipeline's "
            "stack; the build gets the template in force"
        )
        answer = self.folder / "template-in-force.json"
        answer.write_text(json.dumps({"TemplateBody": json.loads(self.definition.text)}), "utf-8")
        tools = image_tools(self.folder / "tools-of-check", aws=["cat", str(answer)])
        return replace(self.place, tools=tools)

    def _build(self, action: PipelineAction, *, place: BuildPlace) -> None:
        sources = {name: self._source(name, action=action) for name in action.inputs}
        directory = next(iter(sources.values()))
        spec = self.definition.build_spec(action.configuration["ProjectName"], source=directory)
        exported = place.run(
            action.name,
            spec,
            sources=sources,
            variables={
                given["name"]: with_variables(given["value"], self._variables)
                for given in json.loads(action.configuration.get("EnvironmentVariables", "[]"))
            },
            log=self.folder / f"{action.name}.log",
            say=self.progress.say,
        )
        self._variables |= {f"{action.namespace}.{name}": value for name, value in exported.items()}
        for name in action.outputs:
            self._artifacts[name] = directory / spec.output

    def _source(self, artifact: str, *, action: PipelineAction) -> Path:
        """Return the folder of an artifact; of the repository, a clone for each build."""
        path = self._artifacts[artifact]
        if path != self.repository.path:
            return path
        clone = self.folder / action.name
        self.repository.clone(clone)
        return clone
