#!/bin/sh
# Runs after the files of the deb or rpm package are removed. The data in /var/lib/postern stays.
set -e
[ -d /run/systemd/system ] && [ -z "${DPKG_ROOT:-}" ] || exit 0
systemctl daemon-reload
