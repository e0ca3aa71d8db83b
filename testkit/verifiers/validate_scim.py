"""Reads SCIM messages by the schemas of scim2-models.

Usage: validate_scim.py KIND, with KIND users, groups or bulk, and the message in standard input.
Prints what is wrong, and nothing if the message is valid.
"""

import json
import sys

from pydantic import ValidationError
from scim2_models import BulkRequest, Context, Group, ListResponse, User

MODELS = {
    "users": (ListResponse[User], Context.RESOURCE_QUERY_RESPONSE),
    "groups": (ListResponse[Group], Context.RESOURCE_QUERY_RESPONSE),
    "bulk": (BulkRequest[User | Group], Context.BULK_REQUEST),
}


def unknown(sent: object, read: object, at: str = "") -> list[str]:
    """Returns what of a message its schema does not have."""
    if isinstance(sent, dict) and isinstance(read, dict):
        out = [f"{at}/{name} is not in the schema" for name in sent if name not in read]
        for name in sent:
            out += unknown(sent[name], read.get(name), f"{at}/{name}") if name in read else []
        return out
    if isinstance(sent, list) and isinstance(read, list):
        return [line for i, one in enumerate(sent) for line in unknown(one, read[i], f"{at}/{i}")]
    return []


def main(kind: str) -> None:
    model, context = MODELS[kind]
    sent = json.load(sys.stdin)
    try:
        message = model.model_validate(sent, scim_ctx=context)
    except ValidationError as wrong:
        print(wrong)
        return
    read = message.model_dump(scim_ctx=context)
    if kind == "bulk":  # whose model does not write what is in it
        for sent_one, read_one, operation in zip(sent["Operations"], read["Operations"], message.operations):
            read_one["path"] = operation.path
            read_one["data"] = operation.data.model_dump(scim_ctx=Context.RESOURCE_CREATION_REQUEST)
            one = User if sent_one["path"] == "/Users" else Group
            if not isinstance(operation.data, one):
                print(f"{sent_one['path']} creates a {type(operation.data).__name__}")
    for line in unknown(sent, read):
        print(line)


if __name__ == "__main__":
    main(sys.argv[1])
