"""The controller of the chart node-health, loaded as what it is: a file that Kubernetes mounts."""

import importlib.util
import ssl
import sys
from pathlib import Path
from types import ModuleType

from emulator.kubernetes import KubernetesApi
from tests.support.configs import REPOSITORY
from tests.support.kubernetes_api import ADMIN

CHART = REPOSITORY / "charts" / "node-health"
SCRIPT = "#!/bin/sh\nexit 0\n"
GPU = "ml.p5.48xlarge"


def controller() -> ModuleType:
    """Return the module of the controller."""
    name = "node_health_controller"
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, CHART / "files" / "controller.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


def api_of(kubernetes: KubernetesApi, *, folder: Path) -> object:
    """Return the controller's client of an API."""
    token = folder / "token"
    token.write_text(f"{ADMIN}\n")
    context = ssl.create_default_context(cadata=kubernetes.ca_pem)
    return controller().Api(url=kubernetes.url, token_file=token, context=context)
