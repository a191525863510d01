"""What delivers the others: a pipeline, and the stacks of each of its environments."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk import DeploymentPipeline, PipelineConfig

_PACKAGES = Path(__file__).resolve().parents[1] / "package.json"


class PipelineStack(cdk.Stack):
    """A pipeline that deploys stages, and updates itself first."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        pipeline: PipelineConfig,
        config_path: str,
        stages: Sequence[cdk.Stage],
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, **kwargs)
        packages = json.loads(_PACKAGES.read_text(encoding="utf-8"))["devDependencies"]
        DeploymentPipeline(
            self,
            "Pipeline",
            pipeline=pipeline,
            config_path=config_path,
            stages=stages,
            cli_version=packages["aws-cdk"],
        )
        for key, value in pipeline.tags.items():
            cdk.Tags.of(self).add(key, value)
            cdk.Tags.of(self).add(key, value, include_resource_types=["aws:cdk:stack"])
