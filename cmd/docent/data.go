package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"docent/shared/app"
)

// dataFlags name the data that a command works on.
type dataFlags struct {
	Data string `default:"data" type:"path" placeholder:"DIR" without:"./data" help:"The data folder (default ./data)."`
}

// with runs do on the data. No other process may use the data at the same time.
func (f dataFlags) with(ctx context.Context, do func(*app.Local) error) error {
	return f.open(ctx, app.LocalOptions{}, do)
}

func (f dataFlags) open(ctx context.Context, o app.LocalOptions, do func(*app.Local) error) error {
	local, err := app.OpenLocal(ctx, f.Data, o)
	if err != nil {
		return ofData(err, f.Data)
	}
	return errors.Join(do(local), local.Close())
}

// withExisting is like with, but fails if there is no data. A command that makes no sense without data must not create
// a folder whose name was mistyped.
func (f dataFlags) withExisting(ctx context.Context, do func(*app.Local) error) error {
	return f.openExisting(ctx, app.LocalOptions{}, do)
}

func (f dataFlags) openExisting(ctx context.Context, o app.LocalOptions, do func(*app.Local) error) error {
	if err := f.exists(); err != nil {
		return err
	}
	return f.open(ctx, o, do)
}

// exists returns an error if there is no data, as in a folder whose disk is not mounted.
func (f dataFlags) exists() error {
	switch {
	case f.missing():
		return fmt.Errorf("there is no data folder %s; docent serve and docent team create make one", f.Data)
	case !app.HasData(f.Data):
		return fmt.Errorf("there is no data of Docent in %s; docent serve and docent team create make it", f.Data)
	}
	return nil
}

// missing reports whether there is no folder.
func (f dataFlags) missing() bool {
	_, err := os.Stat(f.Data)
	return errors.Is(err, fs.ErrNotExist)
}

// ofData says what the operator can do if another process uses the data, or this user may not use it.
func ofData(err error, dir string) error {
	switch {
	case errors.Is(err, app.ErrInUse):
		return fmt.Errorf("another process, probably docent serve, is using the data in %s; "+
			"stop it, run this, then start it again", dir)
	case errors.Is(err, fs.ErrPermission):
		if at := new(fs.PathError); errors.As(err, &at) { // its steps say nothing more to an operator
			err = at
		}
		return fmt.Errorf("this user may not use the data in %s; run this as the user of the server, or name another folder with --data. "+
			"What another user made there, such as root, chown -R gives to the user of the server: %w", dir, err)
	}
	return err
}
