"""What the panels are about: each file is a subject, found because it is here."""

from importlib import import_module
from pkgutil import iter_modules

from hyperpod_cdk.panels.definition import Subject

SUBJECTS: dict[str, Subject] = {
    name: import_module(f"{__name__}.{name}").SUBJECT
    for name in sorted(module.name for module in iter_modules(__path__))
}
"""Every subject by the name of its file."""
