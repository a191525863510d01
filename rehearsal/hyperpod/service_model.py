"""The SageMaker service model that botocore brings along."""

from __future__ import annotations

from functools import cache

from botocore.loaders import Loader
from botocore.model import ServiceModel, StructureShape


@cache
def service_model() -> ServiceModel:
    """Return the model of the installed botocore."""
    return ServiceModel(Loader().load_service_model("sagemaker", "service-2"), "sagemaker")


def input_shape(operation: str) -> StructureShape:
    """Return the shape of an operation's request."""
    return _present(service_model().operation_model(operation).input_shape, operation)


def output_shape(operation: str) -> StructureShape:
    """Return the shape of an operation's response."""
    return _present(service_model().operation_model(operation).output_shape, operation)


def _present(shape: StructureShape | None, operation: str) -> StructureShape:
    if shape is None:
        message = f"{operation} has no such shape in botocore's model of SageMaker"
        raise LookupError(message)
    return shape
