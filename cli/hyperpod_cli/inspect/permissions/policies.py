"""All policies of a deployment."""

from dataclasses import dataclass
from pathlib import Path

from hyperpod_cli.aws.account import Environment
from hyperpod_cli.aws.assembly import stacks_by_name
from hyperpod_cli.inspect.permissions.deployer import deployer_document, execution_roles
from hyperpod_cli.inspect.permissions.documents import Document, split, statements_of
from hyperpod_cli.inspect.permissions.names import Names
from hyperpod_cli.inspect.permissions.needs import needs


@dataclass(frozen=True, kw_only=True, slots=True)
class Policies:
    """Who must be allowed what.

    Attributes:
        deployer: For the person or pipeline.
        cloudformation: For the execution role of CloudFormation, all of them together.
        execution_roles: ARNs of that role; none without a bootstrap.
    """

    deployer: Document
    cloudformation: tuple[Document, ...]
    execution_roles: tuple[str, ...]


def policies_of(assembly: Path, *, deployment: str, environment: Environment) -> Policies:
    """Return the policies with which a synthesized deployment is deployed, updated and destroyed.

    Args:
        assembly: Directory that `cdk synth` wrote.
        deployment: Name of the deployment.
        environment: Where it goes.

    Raises:
        OSError: There is no manifest or template.
        UnknownTypeError: A template has a type of which the schema, or the service of its linked
            role, is not known.
    """
    stacks = stacks_by_name(assembly)
    resources = [each for stack in stacks for each in stack.resources.values()]
    names = Names(deployment=deployment, environment=environment, resources=resources)
    needed = needs({each.name: each.template for each in stacks}, names)
    return Policies(
        deployer=deployer_document(assembly, names=names),
        cloudformation=tuple(split(statements_of(needed))),
        execution_roles=tuple(sorted(set(execution_roles(assembly, environment)))),
    )
