#!/bin/sh
# Before the files of the package are removed. An upgrade leaves the service running; it is restarted afterwards.
set -e

if [ "$1" = remove ] && [ -d /run/systemd/system ]; then
	systemctl disable --now docent.service
fi
