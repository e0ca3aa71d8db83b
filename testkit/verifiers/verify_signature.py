"""Verifies the signature of a request (RFC 9421) with the PyPI package http-message-signatures.

Reads a JSON document from the standard input: method, url, headers (a list of name and value),
keys (a JSON Web Key Set) and tag. Writes one: the covered components and the parameters of the
signature, or error.
"""

import base64
import datetime
import json
import sys
from types import SimpleNamespace

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms


class Headers:
    """The lines of a head in their order, repeated names included."""

    def __init__(self, lines):
        self.lines = [tuple(line) for line in lines]

    def items(self):
        return self.lines


class Directory(HTTPSignatureKeyResolver):
    def __init__(self, keys):
        self.keys = {key["kid"]: key for key in keys["keys"]}

    def resolve_private_key(self, key_id):
        raise NotImplementedError

    def resolve_public_key(self, key_id):
        x = self.keys[key_id]["x"]
        return Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(x + "=" * (-len(x) % 4)))


def verify(given):
    message = SimpleNamespace(method=given["method"], url=given["url"], headers=Headers(given["headers"]))
    verifier = HTTPMessageVerifier(
        signature_algorithm=algorithms.ED25519, key_resolver=Directory(given["keys"])
    )
    found = verifier.verify(message, max_age=datetime.timedelta(minutes=1), expect_tag=given["tag"])
    if len(found) != 1:
        raise ValueError(f"{len(found)} signatures")
    return {
        "label": found[0].label,
        "covered": [name.strip('"') for name in found[0].covered_components if name != '"@signature-params"'],
        "parameters": dict(found[0].parameters),
    }


try:
    answer = verify(json.load(sys.stdin))
except Exception as error:  # whatever the library raises
    answer = {"error": f"{type(error).__name__}: {error}"}
json.dump(answer, sys.stdout)
