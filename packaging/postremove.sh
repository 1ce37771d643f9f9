#!/bin/sh
# After the files of the package were removed. Data is never deleted; its user stays, who owns it.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
if [ "$1" = purge ]; then
	rm -rf /var/cache/docent
	[ ! -d /var/lib/docent ] || echo "The data of Docent is kept in /var/lib/docent."
fi
