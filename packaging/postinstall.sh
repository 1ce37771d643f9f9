#!/bin/sh
# After the files of the package are in place. $2 is the version that was configured before; a first installation has none.
set -e

[ "$1" = configure ] || exit 0

if ! getent passwd docent >/dev/null; then
	useradd --system --user-group --home-dir /var/lib/docent --no-create-home --shell /usr/sbin/nologin docent
fi
# As the unit makes them: commands of the operator write here before the service has started.
install -d -o docent -g docent -m 0700 /var/lib/docent
install -d -o docent -g docent -m 0755 /var/cache/docent
# It may hold a key. If the operator removed it, it stays away.
if [ -e /etc/default/docent ]; then
	chown root:docent /etc/default/docent
	chmod 0640 /etc/default/docent
fi

# A machine without systemd has the program alone.
if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	[ -z "$2" ] || systemctl try-restart docent.service
fi
[ -n "$2" ] || cat <<'EOF'
Docent is installed and not started. Its first team, and the key of its admin, which is shown once:

  sudo -u docent docent team create --data /var/lib/docent --name Acme --admin ada@acme.example

Search by meaning, 16 MB to download; without it search goes by words alone:

  sudo -u docent XDG_CACHE_HOME=/var/cache docent model fetch

Then start it: sudo systemctl enable --now docent
EOF
