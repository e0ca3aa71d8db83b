"""Runs the checks of scim2-tester against a SCIM server.

Usage: check_scim.py URL, with the access token in SCIM_TOKEN. Prints one result a line, in JSON.
"""

import json
import os
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import check_server


def main(url: str) -> None:
    headers = {"Authorization": "Bearer " + os.environ["SCIM_TOKEN"]}
    with Client(base_url=url, headers=headers, timeout=60) as http:
        for result in check_server(SyncSCIMClient(http)):
            line = {
                "status": result.status.name,
                "check": result.title,
                "resource": result.resource_type or "",
                "reason": result.reason or "",
            }
            print(json.dumps(line))


if __name__ == "__main__":
    main(sys.argv[1])
