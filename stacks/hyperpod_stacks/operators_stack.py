"""What lives as long as the nodes: the operators that run on them."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.operators.operators import Operators
from hyperpod_stacks.platform_stack import PlatformStack


class OperatorsStack(cdk.Stack):
    """The operators that are switched on; made after the nodes, and deleted before them."""

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        config: Config,
        platform: PlatformStack,
        **kwargs: Any,
    ) -> None:
        super().__init__(scope, construct_id, stack_name=construct_id, **kwargs)
        Operators(
            self,
            "Operators",
            cluster=platform.eks_cluster,
            control_plane=config.eks,
            operators=config.operators,
        )
