// Package identity has the protocols of single sign-on. Only docent serve and the function dashboard
// link them, so that other binaries stay small.
package identity

import (
	"docent/shared/app/parts/oidc"
	"docent/shared/app/parts/saml"
	"docent/shared/signon"
)

// Providers returns the protocols of identity providers, which are reached on public addresses only.
func Providers() map[signon.Method]signon.Protocol {
	return map[signon.Method]signon.Protocol{signon.SAML: saml.Protocol{}, signon.OIDC: oidc.Public()}
}
