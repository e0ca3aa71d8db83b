"""Serves SCIM with scim2-server, from memory, until standard input ends.

The access token is in SCIM_TOKEN. Prints the URL once it serves.
"""

import os
import sys
import threading
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from scim2_models import ScimProvider
from scim2_server.memory import InMemoryStorage
from scim2_server.service import ScimService
from scim2_server.testserver.application import BEARER_TOKEN_SCHEME, BearerTokenApplication
from scim2_server.utils import (
    load_default_resource_types,
    load_default_schemas,
    load_default_service_provider_config,
)


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    config = load_default_service_provider_config()
    config.authentication_schemes = [BEARER_TOKEN_SCHEME]
    provider = ScimProvider.from_discovery(
        load_default_schemas().values(), load_default_resource_types().values(), config=config
    )
    application = BearerTokenApplication(
        InMemoryStorage(),
        provider,
        service=ScimService(provider, secret="not used: no cursors"),
        bearer_tokens=[os.environ["SCIM_TOKEN"]],
    )
    with make_server("127.0.0.1", 0, application, server_class=Server, handler_class=Quiet) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(f"http://127.0.0.1:{server.server_port}/v2", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
