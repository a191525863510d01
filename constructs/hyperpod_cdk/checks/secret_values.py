"""Chart values and tags are no place for secrets."""

import re
from collections.abc import Iterator

from hyperpod_cdk.config.config import Config
from hyperpod_cdk.schema.errors import Finding, KeyPath, warning

_SECRET = re.compile(
    r"(password|passwd|passphrase|secret|token|credential|authorization|dockerconfigjson"
    r"|(api|access|private|signing|encryption|account|auth)[-_]?key|webhook[-_]?url"
    # Not `bypass`, nor the shell's own PWD.
    r"|[-_](pwd|pass|pat)|(?-i:[a-z]Pass))"
    r"s?([-_]?(\d+|b64|base64|plain|text|value))?$",
    re.IGNORECASE,
)
# existingSecret: the name of a Secret, which is where it belongs.
_NAME_OF_A_SECRET = re.compile(r"existing", re.IGNORECASE)


def secret_values(config: Config) -> Iterator[Finding]:
    """Find chart values and tags whose keys say that they are secret; the values are not shown.

    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/security-best-practices.html
    """
    for path, name in secrets_in(config.helm.values, ("helm", "values")):
        yield warning(
            path,
            name,
            "looks like a secret, and chart values are readable in the template and in logs; make "
            "a Kubernetes Secret of your own, and name that where the chart takes a name",
        )
    for path, name in secrets_in(config.tags, ("tags",)):
        yield warning(
            path,
            name,
            "looks like a secret, and tags are readable in the template and by all who may list "
            "resources; leave it out",
        )


def secrets_in(node: object, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield where a secret is among values of YAML or JSON, and the name that says so."""
    if isinstance(node, list):
        for index, item in enumerate(node):
            yield from secrets_in(item, (*path, index))
    elif isinstance(node, dict):
        for key, value in node.items():
            if isinstance(value, str) and value:
                # An environment variable: {name: API_TOKEN, value: ...}
                name = str(node.get("name")) if key == "value" else key
                if is_secret_name(name):
                    yield (*path, key), name
            else:
                yield from secrets_in(value, (*path, key))


def is_secret_name(name: str) -> bool:
    """Return whether a name says that its value is secret, as `API_TOKEN` does."""
    return bool(_SECRET.search(name)) and not _NAME_OF_A_SECRET.match(name)
