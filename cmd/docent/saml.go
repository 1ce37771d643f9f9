package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"docent/client"
)

type samlSetCmd struct {
	File string `arg:"" placeholder:"FILE" help:"The metadata as the identity provider gives it, XML; - reads standard input, and the server reads an https address."`
	serverFlags
}

// Help is the long help of docent team saml set.
func (c *samlSetCmd) Help() string {
	return `The key must be the personal key of a team admin.

Examples:

    export DOCENT_API_KEY=docent_pat_...
    docent team saml set metadata.xml
    docent team saml set https://idp.example/metadata
    curl -s https://idp.example/metadata | docent team saml set -`
}

// maxMetadata is one byte more than the server accepts, so that the server reports the excess.
const maxMetadata = 1<<20 + 1

// Run sends the file, or the address.
func (c *samlSetCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	if strings.HasPrefix(c.File, "https://") {
		m, err := api.SetSAMLURL(ctx, c.File)
		if err != nil {
			return err
		}
		return showSAML(con, m)
	}
	if strings.HasPrefix(c.File, "http://") {
		return usageError{errors.New("only https addresses are read")}
	}
	var from io.Reader
	if c.File == "-" {
		from = standardInput(ctx)
	} else {
		file, err := os.Open(c.File)
		if err != nil {
			return err
		}
		defer file.Close() // it was only read
		from = file
	}
	text, err := io.ReadAll(io.LimitReader(from, maxMetadata))
	if err != nil {
		return fmt.Errorf("read the metadata: %w", err)
	}
	m, err := api.SetSAML(ctx, text)
	if err != nil {
		return err
	}
	return showSAML(con, m)
}

type samlShowCmd struct {
	serverFlags
	JSON bool `name:"json" help:"Print the identity provider as JSON."`
}

// Run prints the identity provider.
func (c *samlShowCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	m, err := api.SAML(ctx)
	if err != nil {
		return noSAML(err)
	}
	if c.JSON {
		return printJSON(con.out, m)
	}
	return showSAML(con, m)
}

type samlRemoveCmd struct{ serverFlags }

// Run removes the identity provider.
func (c *samlRemoveCmd) Run(ctx context.Context, con *console) error {
	api, err := c.client(con)
	if err != nil {
		return err
	}
	if err := api.RemoveSAML(ctx); err != nil {
		return noSAML(err)
	}
	return printf(con.out, "Removed. SCIM is refused until an identity provider is set again.\n")
}

func noSAML(err error) error {
	var e *client.Error
	if errors.As(err, &e) && e.Status == 404 {
		return errors.New("no identity provider is set; set one with docent team saml set FILE")
	}
	return err
}

// showSAML prints m, and warns of certificates that expire soon.
func showSAML(con *console, m client.SAML) error {
	if err := printf(con.out, "Identity provider %s\nSign-on at %s\n", m.EntityID, m.SingleSignOnURL); err != nil {
		return err
	}
	if m.MetadataURL != "" {
		if err := printf(con.out, "Metadata read at %s\n", m.MetadataURL); err != nil {
			return err
		}
	}
	for _, c := range m.Certificates {
		state := "valid until"
		if !c.NotAfter.After(con.now()) {
			state = "EXPIRED on"
		}
		if err := printf(con.out, "Certificate %s, %s %s\n    SHA-256 %s\n", c.Subject, state, c.NotAfter.Format(time.DateOnly), c.SHA256); err != nil {
			return err
		}
	}
	return nil
}
