"""How an update of the AMI rolls over the instances of a group."""

from typing import Annotated, Any, Self

from pydantic import model_validator

from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.limits import ApiLimits, ListLimits
from hyperpod_cdk.schema.section import Api, Listed, Section, members

_PERCENTAGE, _WHOLE = "CAPACITY_PERCENTAGE", 100

WaitInterval = Annotated[
    int,
    ApiLimits(shape_name="sagemaker.WaitTimeIntervalInSeconds", noun="a wait interval in seconds"),
]
AlarmName = Annotated[
    str,
    ApiLimits(
        shape_name="sagemaker.AlarmName", noun="a CloudWatch alarm's name such as training-errors"
    ),
]


class BatchSizeConfig(Section):
    """How many instances are updated, or rolled back, at a time."""

    type: Annotated[
        str,
        ApiLimits(shape_name="sagemaker.NodeUnavailabilityType", noun="a batch size type"),
        Api("Type"),
    ]
    """INSTANCE_COUNT, or CAPACITY_PERCENTAGE of the group's instances."""

    value: Annotated[
        int,
        ApiLimits(shape_name="sagemaker.NodeUnavailabilityValue", noun="a batch size"),
        Api("Value"),
    ]
    """Number or percentage of instances."""

    @model_validator(mode="after")
    def _check_percentage(self) -> Self:
        if self.type == _PERCENTAGE and self.value > _WHOLE:
            message = f"must be 1 to {_WHOLE}, being a percentage"
            refuse([Finding(path=("value",), value=self.value, message=message)])
        return self


class RollingUpdateConfig(Section):
    """How an update rolls over the instances of a group."""

    maximum_batch_size: Annotated[
        BatchSizeConfig | None, Api("RollingUpdatePolicy.MaximumBatchSize")
    ] = None
    """Most instances updated at a time. Default: HyperPod's."""

    rollback_maximum_batch_size: Annotated[
        BatchSizeConfig | None, Api("RollingUpdatePolicy.RollbackMaximumBatchSize")
    ] = None
    """Most instances rolled back at a time. Default: HyperPod's."""

    wait_interval_seconds: Annotated[WaitInterval | None, Api("WaitIntervalInSeconds")] = None
    """Seconds between two batches, 0 to 3600. Default: HyperPod's."""

    rollback_alarms: Annotated[
        Listed[AlarmName], ListLimits(shape_name="sagemaker.AutoRollbackAlarms", noun="alarms")
    ] = ()
    """Names of CloudWatch alarms of this account and region; one that goes off rolls the update
    back. The nodes' role may then read alarms. Default: none."""

    @model_validator(mode="after")
    def _check_rollback(self) -> Self:
        if self.rollback_maximum_batch_size is not None and self.maximum_batch_size is None:
            message = "is missing: rollback_maximum_batch_size needs it"
            refuse([Finding(path=("maximum_batch_size",), value=None, message=message)])
        return self

    def to_request(self) -> dict[str, Any]:
        """Return a DeploymentConfiguration."""
        alarms = [{"AlarmName": name} for name in self.rollback_alarms]
        return members({**super().to_request(), "AutoRollbackConfiguration": alarms})
