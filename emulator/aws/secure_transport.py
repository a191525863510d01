"""Count the rehearsal's plain HTTP as TLS."""

from emulator.aws.ministack import app


def install() -> None:
    """Let aws:SecureTransport be true for every request.

    The server listens on the loopback interface only and stands in for AWS's HTTPS endpoints. Were
    its HTTP taken literally, a bucket policy that demands TLS, as it should, would refuse everyone.
    """
    pin = app.pin_request_origin

    def pin_as_tls(source_ip: str, _secure_transport: bool) -> None:
        pin(source_ip, True)

    app.pin_request_origin = pin_as_tls
