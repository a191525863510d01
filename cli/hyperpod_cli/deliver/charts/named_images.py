"""Lets images that only a template names come from the registry of `global.imageRegistry`."""

import re
from pathlib import Path

from hyperpod_cdk.helm.images.registry import split_image

# A whole image on a line of its own, without any template in it.
_IMAGE = re.compile(
    r"^(?P<key>[ \t]*(?:-[ \t]+)?image:[ \t]*)(?P<quote>[\"']?)"
    r"(?P<image>[a-z0-9][\w./-]*(?::\d+/[\w./-]+)?(?::[\w.-]+)?(?:@sha256:[0-9a-f]{64})?)"
    r"(?P=quote)[ \t]*$",
    re.MULTILINE,
)


def follow_registry(tree: Path) -> list[str]:
    """Rewrite the templates of an unpacked chart and its subcharts.

    Returns:
        The files changed, relative to the chart.
    """
    changed = []
    for file in sorted(tree.rglob("*.yaml")):
        name = file.relative_to(tree)
        if "templates" not in name.parts:
            continue
        text = file.read_text(encoding="utf-8")
        followed = _IMAGE.sub(_with_registry, text)
        if followed != text:
            file.write_text(followed, encoding="utf-8")
            changed.append(name.as_posix())
    return changed


def _with_registry(found: re.Match[str]) -> str:
    image = found["image"]
    _, path = split_image(image)
    values = "(.Values.global | default dict)"
    value = (
        f"{{{{ with {values}.imageRegistry }}}}{{{{ . }}}}/{path}{{{{ else }}}}{image}{{{{ end }}}}"
    )
    return f'{found["key"]}"{value}"'
