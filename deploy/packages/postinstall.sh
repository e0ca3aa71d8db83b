#!/bin/sh
# Runs after the files of the deb or rpm package are in place. A service that runs is restarted with the new program,
# and one that doesn't isn't started, because it needs settings first.
#
# deb: configure, and the version before, "" at the first installation. rpm: the number of versions that are installed.
set -e
[ -d /run/systemd/system ] && [ -z "${DPKG_ROOT:-}" ] || exit 0
systemctl daemon-reload
if [ "$1" -ge 2 ] 2>/dev/null || { [ "$1" = configure ] && [ -n "${2:-}" ]; }; then
  systemctl try-restart postern.service
fi
