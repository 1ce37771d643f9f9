package main

import (
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"docent/shared/app/parts/saml/samltest"
)

// provider is the key of a script's SAML identity provider, a **samltest.Provider.
type provider struct{}

// idp makes an identity provider, and sets a variable to its metadata.
func (p *player) idp(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "idp NAME")
	made, err := samltest.Make("https://idp.example/"+ts.Getenv("RUN"), "https://idp.example/sso", time.Now)
	ts.Check(err)
	*ts.Value(provider{}).(**samltest.Provider) = made
	ts.Setenv(args[0], made.Metadata())
}

// assert sets a variable to the form with which the provider answers the request in an address,
// about a user.
func (p *player) assert(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "assert NAME ADDRESS USER")
	idp := *ts.Value(provider{}).(**samltest.Provider)
	if idp == nil {
		ts.Fatalf("there is no identity provider yet: use idp")
	}
	r, err := samltest.ReadRequest(expand(ts, args[1]))
	ts.Check(err)
	idp.User = expand(ts, args[2])
	form, err := idp.Form(r, samltest.Options{})
	ts.Check(err)
	ts.Setenv(args[0], form.Encode())
}
