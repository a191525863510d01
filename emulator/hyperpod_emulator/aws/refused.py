"""How a service of the local AWS refuses a resource."""


class Refused(ValueError):
    """A resource the service would refuse; the stack fails with this message."""
