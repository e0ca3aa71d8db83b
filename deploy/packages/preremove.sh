#!/bin/sh
# Runs before the files of the deb or rpm package are removed, and stops the service unless a new version follows.
#
# deb: remove, or upgrade. rpm: the number of versions that will be left.
set -e
[ -d /run/systemd/system ] && [ -z "${DPKG_ROOT:-}" ] || exit 0
case $1 in
remove | 0) systemctl disable --now postern.service ;;
esac
