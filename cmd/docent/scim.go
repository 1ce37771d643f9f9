package main

import (
	"context"
	"fmt"
)

type scimSetupCmd struct {
	serverFlags
	Name string `default:"SCIM" placeholder:"NAME" help:"Name of the key, 1 to 100 characters (default ${default})."`
}

// Help is the long help of docent scim setup.
func (c *scimSetupCmd) Help() string {
	return `The key must be the personal key of a team admin, and --server the address at which the identity provider reaches the server.

Examples:

    export DOCENT_API_KEY=docent_pat_...
    docent scim setup --server https://docent.example/v1 --name Okta`
}

// Run creates the key and prints the fields of both providers' forms.
func (c *scimSetupCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	t, err := api.Team(ctx)
	if err != nil {
		return err
	}
	id, secret, err := api.CreateSCIMKey(ctx, c.Name)
	if err != nil {
		return fmt.Errorf("make the key: %w", err)
	}
	base := api.Base() + "/scim/v2"
	if err := printf(con.out, `Team %s. SCIM key %s, shown this once:
%s

Okta: application, Provisioning, Integration, SCIM connection
    SCIM connector base URL      %s
    Unique identifier field      userName
    Supported actions            import and push users, push profiles, push groups
    Authentication mode          HTTP Header
    Authorization (Bearer)       the key above

Microsoft Entra ID: enterprise application, Provisioning, Admin Credentials
    Tenant URL                   %s?aadOptscim062020
    Secret token                 the key above
`, t.Name, id, secret, base, base); err != nil {
		return err
	}
	if !t.SAMLConfigured {
		return printf(con.err, "SCIM is refused until the team has a SAML identity provider: docent team saml set FILE\n")
	}
	return nil
}
