"""Programs of charts, loaded as what they are: files that Kubernetes mounts."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def loaded(name: str, path: Path) -> ModuleType:
    """Return the module of a file, which no package has.

    Args:
        name: Its name from now on.
        path: The file.
    """
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
