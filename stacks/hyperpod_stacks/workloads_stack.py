"""What jobs need besides the cluster: the images that they train in."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.workloads.images import image_output
from hyperpod_cdk.workloads.workloads import TrainingImages
from hyperpod_stacks.platform_stack import PlatformStack, add_outputs


class WorkloadsStack(cdk.Stack):
    """The repository of training images, and the project that builds them when it is started."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        workloads, name = config.workloads, config.repository_name
        assert workloads is not None and name is not None  # noqa: S101 - else no stack
        super().__init__(scope, construct_id, stack_name=construct_id, **kwargs)
        images = TrainingImages(
            self,
            "TrainingImages",
            repository_name=name,
            workloads=workloads,
            instance_types=config.instance_types,
            region=config.region,
            encryption_key=platform.keys.images,
            log_groups=platform.log_groups,
            placement=platform.in_network if config.builds_in_network else None,
        )
        add_outputs(
            self,
            {
                "TrainingImageProject": images.project.ref,
                "TrainingImageRepository": images.repository.repository_uri,
                **{image_output(base): uri for base, uri in images.images.items()},
            },
        )
