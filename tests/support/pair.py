"""A gateway and the upstream to which it forwards everything."""

from collections.abc import Callable
from dataclasses import dataclass

from support.gateway import Gateway
from support.raw import Response
from support.upstream import Upstream


@dataclass
class Pair:
    """The two, and what tests of refusals have in common."""

    gateway: Gateway
    upstream: Upstream

    def assert_refused(
        self, data: bytes, *statuses: int, method: str = "POST", pieces: int = 0
    ) -> Response:
        """The gateway answers so, closes, and the upstream has seen no whole request.

        `pieces` cuts the bytes: then the head may have gone up before the fault was there.
        """
        before = len(self.upstream.visits)
        with self.gateway.connect() as client:
            if pieces:
                client.send_pieces(data[at : at + pieces] for at in range(0, len(data), pieces))
            else:
                client.send(data)
            answer = client.response(method)
            assert answer.status in statuses, answer
            assert answer.header("Connection") == "close"
            client.end()
        assert b"hidden" not in self.upstream.received
        if not pieces:
            assert len(self.upstream.visits) == before, self.upstream.received
        return answer


StartPair = Callable[..., Pair]
StartGateway = Callable[..., Gateway]
StartUpstream = Callable[..., Upstream]
