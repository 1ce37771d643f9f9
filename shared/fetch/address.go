package fetch

import (
	"net/netip"
	"strings"
)

// reserved are the ranges that are not the public internet's, by the registries of
// special-purpose addresses (RFC 6890), beyond what netip itself tells. Of IPv6
// only global unicast is taken, and of it not what embeds an IPv4 address.
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

// Public tells whether an address is one of the public internet.
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

// blockedHost tells of names that are never public: literal addresses in any
// spelling but a public one's own, and names of this machine or of a private
// network. Everything else is for the resolver and the dialler to tell.
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

// numeric tells whether a host that ends in this label is a number in the eyes of
// some resolver: decimal, octal or hexadecimal.
func numeric(label string) bool {
	if hex, ok := strings.CutPrefix(label, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
