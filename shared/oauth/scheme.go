package oauth

import (
	"slices"
	"strings"
)

// schemesRefused belong to no program that asks for access. A browser or the system opens their addresses by
// running, reading, calling or installing something.
var schemesRefused = []string{
	// Of browsers.
	"javascript", "vbscript", "data", "file", "blob", "about", "view-source", "filesystem", "jar", "feed", "ws", "wss", "chrome", "edge", "brave",
	"opera", "resource", "res", "mk", "mhtml", "microsoft-edge",
	// Of protocols that other programs speak.
	"ftp", "ftps", "sftp", "ssh", "telnet", "tn3270", "rlogin", "gopher", "ldap", "ldaps", "smb", "cifs", "afp", "nfs", "dav", "davs", "webdav",
	"webdavs", "vnc", "rdp", "news", "nntp", "irc", "ircs", "git", "svn", "magnet",
	// Of calls and messages.
	"mailto", "tel", "sms", "smsto", "mms", "mmsto", "callto", "sip", "sips", "facetime", "facetime-audio", "skype", "im", "xmpp",
	// Of systems: settings, shells, searches, shops.
	"shell", "search", "hcp", "help", "applescript", "x-apple.systempreferences", "intent", "android-app", "market", "itms", "itmss", "itms-apps",
	"itms-appss", "itms-services", "onenote",
}

// prefixesRefused are the prefixes of whole families: of Windows and Office ("ms-settings", "ms-word"), and of its
// searches ("search-ms").
var prefixesRefused = []string{"ms-", "search-"}

// harmful reports whether no code may be sent to addresses of the scheme, which is in lower case.
func harmful(scheme string) bool {
	return slices.Contains(schemesRefused, scheme) ||
		slices.ContainsFunc(prefixesRefused, func(prefix string) bool { return strings.HasPrefix(scheme, prefix) })
}
