package fetch

import (
	"net/netip"
	"strings"
)

// reserved are ranges that are not public, by the registries of special-purpose
// addresses (RFC 6890), in addition to what netip knows. They include IPv6 ranges that
// embed IPv4 addresses.
var reserved = parse(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",
	"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20",
)

var globalUnicast = netip.MustParsePrefix("2000::/3")

func parse(ranges ...string) (out []netip.Prefix) {
	for _, r := range ranges {
		out = append(out, netip.MustParsePrefix(r))
	}
	return out
}

// Public reports whether an address is on the public internet.
func Public(to netip.AddrPort) bool {
	a := to.Addr()
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Is6() && !globalUnicast.Contains(a) {
		return false
	}
	for _, r := range reserved {
		if r.Contains(a) {
			return false
		}
	}
	return true
}

// blockedHost reports whether a host is never public: a literal address that is not
// public or not in its standard spelling, or a name of this machine or of a private
// network. The dialer checks the addresses of all other names.
func blockedHost(host string) bool {
	if a, err := netip.ParseAddr(host); err == nil {
		return !Public(netip.AddrPortFrom(a, 80))
	}
	host = strings.ToLower(strings.TrimRight(host, ".")) // a name may end in dots
	labels := strings.Split(host, ".")
	last := labels[len(labels)-1]
	if last == "" || strings.ContainsAny(host, ":%") || numeric(last) {
		return true
	}
	switch last {
	case "localhost", "local", "localdomain", "internal", "intranet", "lan", "home", "corp", "private", "onion":
		return true
	}
	return len(labels) == 1 // a name without a dot is resolved in the local domain
}

// numeric reports whether some resolver may read a host that ends in this label as a
// decimal, octal or hexadecimal address.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
