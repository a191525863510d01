"""What jobs need besides the cluster: the images that they train in."""

from constructs import Construct

from hyperpod_cdk.workloads.images import image_output
from hyperpod_cdk.workloads.workloads import TrainingImages
from hyperpod_stacks.deployed_stack import DeployedStack, Stacks
from hyperpod_stacks.platform_stack import PlatformStack
from hyperpod_stacks.table import StackKind


class WorkloadsStack(DeployedStack):
    """The repository of training images, and the project that builds them when it is started."""

    def __init__(self, scope: Construct, kind: StackKind, stacks: Stacks) -> None:
        super().__init__(scope, kind, stacks)
        config, platform = stacks.config, stacks.of(PlatformStack)
        workloads, name = config.workloads, config.repository_name
        assert workloads is not None and name is not None  # noqa: S101 - else no stack
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
        self.add_outputs(
            {
                "TrainingImageProject": images.project.ref,
                "TrainingImageRepository": images.repository.repository_uri,
                **{image_output(base): uri for base, uri in images.images.items()},
            },
        )
