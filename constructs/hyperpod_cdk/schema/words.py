"""Words of summaries: counts, and what becomes of data."""


def counted(number: int, noun: str, plural: str = "s") -> str:
    """Return a number of things, such as "1 node" or "2 nodes"."""
    return f"{number} {noun}{'' if number == 1 else plural}"


def after_deletion(*, delete_with_stack: bool) -> str:
    """Return what becomes of data when its stack is deleted."""
    return "deleted with its stack" if delete_with_stack else "retained"
