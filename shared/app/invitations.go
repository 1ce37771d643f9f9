package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"docent/shared/team"
)

// invitations is the data directory, as a place for sign-in links: the operator makes one while
// docent serve has the tables open. Whoever can write to the directory may do everything anyway.
type invitations string

func (dir invitations) folder() string { return filepath.Join(string(dir), "signin") }

// Invite stores a sign-in link in the data directory dataDir, which a running or a later docent
// serve accepts once, until i expires. It returns the code. An empty TeamID means the only
// team, an empty UserID for the first admin.
func Invite(dataDir string, i team.Invitation) (code string, err error) {
	dir := invitations(dataDir)
	if err := os.MkdirAll(dir.folder(), 0o700); err != nil {
		return "", fmt.Errorf("store a sign-in link: %w", err)
	}
	dir.clean(time.Now())
	code = team.NewCode()
	text, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("encode a sign-in link: %w", err)
	}
	// Renamed when it is complete, so that the server never reads a part of it.
	temporary := filepath.Join(dir.folder(), uuid.NewString()+".new")
	if err := os.WriteFile(temporary, text, 0o600); err != nil {
		return "", fmt.Errorf("store a sign-in link: %w", err)
	}
	if err := os.Rename(temporary, dir.file(team.HashOfCode(code))); err != nil {
		return "", fmt.Errorf("store a sign-in link: %w", err)
	}
	return code, nil
}

func (dir invitations) file(hash string) string {
	return filepath.Join(dir.folder(), hash+".json")
}

// take is TakeInvitation of a team.Service.
func (dir invitations) take(_ context.Context, hash string) (team.Invitation, bool, error) {
	var i team.Invitation
	text, err := os.ReadFile(dir.file(hash))
	if errors.Is(err, fs.ErrNotExist) {
		return i, false, nil
	}
	if err != nil {
		return i, false, fmt.Errorf("read a sign-in link: %w", err)
	}
	// Of several requests one removes the file.
	if err := os.Remove(dir.file(hash)); err != nil {
		return i, false, nil //nolint:nilerr // another request has taken it
	}
	if err := json.Unmarshal(text, &i); err != nil {
		return i, false, fmt.Errorf("decode a sign-in link: %w", err)
	}
	return i, true, nil
}

// clean removes links that expired long ago.
func (dir invitations) clean(now time.Time) {
	entries, err := os.ReadDir(dir.folder())
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > 24*time.Hour {
			_ = os.Remove(filepath.Join(dir.folder(), e.Name())) // the next one tries again
		}
	}
}

// SignInURL returns the sign-in link with the code at the API's base URL. The code is in the
// fragment, which browsers send to no server.
func SignInURL(baseURL, code string) string {
	return strings.TrimSuffix(baseURL, "/") + pagesPath + "/#/sign-in/" + code
}
