package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"docent/testkit/serving"
)

// The teams that every target has for the scripts.
const (
	ours   = "Scripts"
	theirs = "Rival"
)

// serve starts docent serve, the binary program, on its own data below folder. stop ends it.
func serve(ctx context.Context, program, folder string) (h Target, stop func() error, err error) {
	data := filepath.Join(folder, "data")
	h = Target{Name: "serve"}
	for name, key := range map[string]*string{ours: &h.Admin, theirs: &h.Rival} {
		made, err := serving.NewTeam(ctx, program, name, "--data", data)
		if err != nil {
			return h, nil, err
		}
		*key = made.AdminKey
	}
	log, err := os.Create(filepath.Join(folder, "serve.log"))
	if err != nil {
		return h, nil, err
	}
	server, err := serving.Start(ctx, serving.Options{Program: program, Data: data, Log: log})
	if err != nil {
		return h, nil, errors.Join(err, log.Close())
	}
	h.Base, h.At = server.Base, server.Base
	return h, func() error { return errors.Join(server.Stop(), log.Close()) }, nil
}
