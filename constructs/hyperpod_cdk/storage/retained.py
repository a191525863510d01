"""Files that outlive their stack, unless the configuration says twice that they may go."""

from typing import Self

from pydantic import model_validator

from hyperpod_cdk.schema.errors import Finding, refuse
from hyperpod_cdk.schema.section import Section


class RetainedFiles(Section):
    """A file system that its stack keeps."""

    delete_with_stack: bool = False
    """First half of a two-step switch: whether deleting the stack deletes the file system. Default:
    false, the file system stays and goes on costing."""

    i_understand_all_files_are_deleted: bool = False
    """Second half of the switch; without it delete_with_stack is refused."""

    @model_validator(mode="after")
    def _check_deletion_switch(self) -> Self:
        first, second = "delete_with_stack", "i_understand_all_files_are_deleted"
        if self.delete_with_stack != self.i_understand_all_files_are_deleted:
            path, other = (second, first) if self.delete_with_stack else (first, second)
            message = (
                f"must be true too when {other} is: both delete every file together with the "
                "stack; without both the file system stays"
            )
            refuse([Finding(path=(path,), value=False, message=message)])
        return self
