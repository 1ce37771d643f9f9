package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"docent/testkit/serving"
)

// teams is the number of teams: the quiet one, and those whose clients attack.
const teams = 1 + 4

// server is docent serve on data of its own.
type server struct {
	*serving.Server
	admins []string // personal keys of the teams' admins, the quiet team's first
	log    *os.File
}

// startServer creates the teams below folder and starts the server. Its log goes to the file keep, if that is not
// empty.
func startServer(ctx context.Context, program, folder, keep string) (*server, error) {
	data, s := filepath.Join(folder, "data"), &server{}
	for n := range teams {
		made, err := serving.NewTeam(ctx, program, fmt.Sprint("team", n), "--data", data)
		if err != nil {
			return nil, err
		}
		s.admins = append(s.admins, made.AdminKey)
	}
	if keep == "" {
		keep = filepath.Join(folder, "serve.log")
	}
	var err error
	if s.log, err = os.Create(keep); err != nil {
		return nil, err
	}
	if s.Server, err = serving.Start(ctx, serving.Options{Program: program, Data: data, Log: s.log}); err != nil {
		return nil, errors.Join(err, s.log.Close())
	}
	return s, nil
}

func (s *server) stop() error { return errors.Join(s.Stop(), s.log.Close()) }
