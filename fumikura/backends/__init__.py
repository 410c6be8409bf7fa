"""The border to a server over HTTP, shared by embedders, generators and the reranker: requests in, our errors out.

A leaf: it knows addresses, keys, time limits and what servers say when they refuse. What a person should do about it
comes from the caller. It refuses to know what a prompt, a vector or a score is.
"""

from fumikura.backends.failures import refusal, unreachable
from fumikura.backends.json_request import Json, ask, encoded, open_client, parse
from fumikura.backends.server import Server, Words

__all__ = ["Json", "Server", "Words", "ask", "encoded", "open_client", "parse", "refusal", "unreachable"]
