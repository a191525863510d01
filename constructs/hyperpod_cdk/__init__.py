"""AWS CDK constructs for Amazon SageMaker HyperPod.

The public names are listed, with their types, in `__init__.pyi`. Each is imported when it is first
used, so that reading a configuration does not wait for the CDK.
"""

from importlib.metadata import version

import lazy_loader

__version__ = version("hyperpod-cdk")

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
