"""How a template names the value that a stack was created with."""

NONE = "none"
"""What a parameter holds for a key that was left out."""


def kept_in(parameter: str) -> str:
    """Return where the former value is; reads on from "restore the former value".

    Args:
        parameter: Logical ID of the parameter that has it.
    """
    return f", which the stack's parameter {parameter} has,"
