"""What the template of a pipeline's stack says: stages, actions, builds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

_PIPELINE, _PROJECT = "AWS::CodePipeline::Pipeline", "AWS::CodeBuild::Project"
_PHASES = ("install", "pre_build", "build")


@dataclass(frozen=True, kw_only=True, slots=True)
class PipelineAction:
    """An action of a pipeline; inputs and outputs are names of artifacts.

    What runs it is CodeBuild, CloudFormation, Manual, or where the source is. The role is empty for
    one of the pipeline's own stack, the region for the pipeline's. The namespace is of the
    variables that it exports; actions of one number of `run_order` run side by side.
    """

    name: str
    provider: str
    category: str
    configuration: Mapping[str, str]
    inputs: Sequence[str]
    outputs: Sequence[str]
    role: str
    region: str
    namespace: str
    run_order: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StageDefinition:
    """A stage of a pipeline."""

    name: str
    actions: Sequence[PipelineAction]

    def in_order(self) -> Iterator[list[PipelineAction]]:
        """Yield the actions that run side by side, in the order of their numbers."""
        for number in sorted({action.run_order for action in self.actions}):
            yield [action for action in self.actions if action.run_order == number]


@dataclass(frozen=True, kw_only=True, slots=True)
class BuildSpec:
    """What a build runs: commands in one shell, and the variables that later actions may use.

    The folder `output` becomes its artifact; empty for none.
    """

    commands: Sequence[str]
    exported: Sequence[str]
    output: str


class PipelineDefinition:
    """The pipeline in a template, whose text it has."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text("utf-8")
        self._resources: Mapping[str, Any] = json.loads(self.text)["Resources"]

    @property
    def stages(self) -> list[StageDefinition]:
        """The stages, in order."""
        (pipeline,) = (item for item in self._resources.values() if item["Type"] == _PIPELINE)
        return [
            StageDefinition(
                name=stage["Name"], actions=[_action(action) for action in stage["Actions"]]
            )
            for stage in pipeline["Properties"]["Stages"]
        ]

    def build_spec(self, project: str, *, source: Path) -> BuildSpec:
        """Return what a project runs, as it or the artifact that it gets first says."""
        resource = self._resources[project]
        assert resource["Type"] == _PROJECT  # noqa: S101 - CDK refers to nothing else
        written = resource["Properties"]["Source"]["BuildSpec"]
        text = written if written.startswith("{") else (source / written).read_text("utf-8")
        spec = yaml.safe_load(text)
        commands = [
            command
            for phase in _PHASES
            for command in spec["phases"].get(phase, {}).get("commands", [])
        ]
        return BuildSpec(
            commands=commands,
            exported=spec.get("env", {}).get("exported-variables", []),
            output=spec.get("artifacts", {}).get("base-directory", ""),
        )


def _action(action: Mapping[str, Any]) -> PipelineAction:
    return PipelineAction(
        name=action["Name"],
        provider=action["ActionTypeId"]["Provider"],
        category=action["ActionTypeId"]["Category"],
        configuration={key: _text(value) for key, value in action["Configuration"].items()},
        inputs=[artifact["Name"] for artifact in action.get("InputArtifacts", [])],
        outputs=[artifact["Name"] for artifact in action.get("OutputArtifacts", [])],
        role=_text(action.get("RoleArn", "")),
        region=action.get("Region", ""),
        namespace=action.get("Namespace", ""),
        run_order=action["RunOrder"],
    )


def _text(value: Any) -> str:  # noqa: ANN401 - any JSON of a template
    """Return a value as CloudFormation would; a reference to a resource is its logical ID."""
    match value:
        case {"Ref": "AWS::Partition"}:
            return "aws"
        case {"Ref": str(name)}:
            return name
        case {"Fn::GetAtt": _}:
            return ""
        case {"Fn::Join": [separator, parts]}:
            return str(separator).join(_text(part) for part in parts)
        case _:
            return str(value)


def with_variables(text: str, variables: Mapping[str, str]) -> str:
    """Return a text with the values of variables, as of `#{namespace.NAME}`."""
    return re.sub(r"#\{([^}]+)\}", lambda match: variables[match[1]], text)
