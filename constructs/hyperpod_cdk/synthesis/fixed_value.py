"""Values of the configuration that stay what they were when their stack was created."""

from aws_cdk import CfnParameter, CfnRule, CfnRuleAssertion, Fn, Token
from constructs import Construct

from hyperpod_cdk.schema.errors import KeyPath, error, key_path
from hyperpod_cdk.schema.former_value import NONE, kept_in
from hyperpod_cdk.synthesis.template_parameters import ParameterText


class FixedValue(Construct):
    """A value whose change CloudFormation refuses before it touches anything.

    The template has the value twice: as the default of a parameter, and in a rule that compares the
    two. A deployment keeps the values of parameters that a stack has, so the parameter goes on
    holding what the stack was created with (docs/adr/0043).

    A value that is not there yet, such as that of another subnet, may be added.

    Args:
        key: Keys and list positions from the top of the configuration to the value.
        value: The value; None where the configuration leaves it to AWS. A token is not compared,
            nor is a parameter.
        reason: Why it cannot change; reads on from "cannot be changed once it is deployed: ".
        instead: What to do besides restoring it; reads on from "restore it, or ".
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        key: KeyPath,
        value: str | None,
        reason: str,
        instead: str,
    ) -> None:
        super().__init__(scope, construct_id)
        if Token.is_unresolved(value):
            return  # neither a parameter's default nor a rule can refer to a resource
        if isinstance(value, ParameterText):
            return  # a template does not know what its parameter held before
        text = NONE if value is None else value
        deployed = CfnParameter(
            self,
            "Resource",
            default=text,
            description=f"{key_path(key)} as the stack was created. Pass no value.",
        )
        message = (
            f"cannot be changed once it is deployed: {reason}; restore the former value"
            f"{kept_in(deployed.logical_id)} or {instead}"
        )
        CfnRule(
            self,
            "Unchanged",
            assertions=[
                CfnRuleAssertion(
                    assert_=Fn.condition_equals(deployed.value_as_string, text),
                    assert_description=str(error(key, value, message)),
                )
            ],
        )
