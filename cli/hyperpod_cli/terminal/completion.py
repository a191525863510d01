"""What a shell completes: the names of instance groups, as the configuration has them."""

from pathlib import Path

from typer import Context


def group_names(context: Context, incomplete: str) -> list[str]:
    """Return the groups whose names begin with what is written; none if they are not known.

    Args:
        context: What is written before.
        incomplete: The beginning of a name.
    """
    # Not validated: a configuration that is still being written has names, too.
    import yaml  # noqa: PLC0415

    path = context.params.get("config")
    if not isinstance(path, Path):
        return []
    try:
        document = yaml.safe_load(path.read_text("utf-8"))
        cluster = document["cluster"]
        listed = [
            *(cluster.get("instance_groups") or ()),
            *(cluster.get("restricted_instance_groups") or ()),
        ]
        names = [str(group["name"]) for group in listed]
    except (OSError, UnicodeDecodeError, yaml.YAMLError, TypeError, KeyError, AttributeError):
        return []
    return [name for name in names if name.startswith(incomplete)]
