// Package slack reads the channels of a Slack workspace, and takes messages from its
// Events API and from the archive of an export. Of an export it leaves out private
// channels and direct messages.
package slack

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"

	"docent/shared/source"
)

// Bounds of an archive.
const (
	maxFiles  = 500_000
	maxFile   = 64 << 20 // uncompressed bytes of one file
	maxTotal  = 8 << 30  // uncompressed bytes of all files
	maxPacked = 200      // compression ratio of files above leastBomb
	leastBomb = 1 << 20  // uncompressed bytes
)

// ErrBomb means that an archive is larger uncompressed than any export.
var ErrBomb = errors.New("the archive is too large uncompressed for an export")

// Archive is an open export.
type Archive struct {
	files    map[string][]*zip.File // one per day, by the channel's name
	channels []channel
	users    map[string]string // names by id
	left     int64             // uncompressed bytes that may still be read
}

type channel struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

type user struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"` // deactivated
	Bot     bool   `json:"is_bot"`  // such as the one of the app itself
	Profile struct {
		DisplayName string `json:"display_name"`
		RealName    string `json:"real_name"`
		Email       string `json:"email"`
	} `json:"profile"`
}

var day = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}\.json$`)

// Open opens an archive of size bytes and reads its channels and users. It unpacks
// nothing to disk.
func Open(r io.ReaderAt, size int64) (*Archive, error) {
	z, err := zip.NewReader(r, size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // names are looked up, never written to
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	if len(z.File) > maxFiles {
		return nil, ErrBomb
	}
	a := &Archive{files: map[string][]*zip.File{}, users: map[string]string{}, left: maxTotal}
	var users []user
	known := false
	for _, f := range z.File {
		folder, name := path.Split(f.Name)
		switch {
		case f.Name == "channels.json":
			known = true
			err = a.decode(f, &a.channels)
		case f.Name == "users.json":
			err = a.decode(f, &users)
		case day.MatchString(name):
			folder = strings.TrimSuffix(folder, "/")
			a.files[folder] = append(a.files[folder], f)
		}
		if err != nil {
			return nil, err
		}
	}
	if !known {
		return nil, errors.New("not a Slack export: channels.json is missing")
	}
	for _, u := range users {
		a.users[u.ID] = u.name()
	}
	named := map[string]bool{} // a folder is read once
	a.channels = slices.DeleteFunc(a.channels, func(c channel) bool {
		twice := named[c.Name]
		named[c.Name] = true
		return twice
	})
	return a, nil
}

func (u user) name() string {
	for _, name := range []string{u.Profile.DisplayName, u.Profile.RealName, u.Name} {
		if name != "" {
			return name
		}
	}
	return u.ID
}

// decode decodes one JSON file within all bounds, whatever size the archive declares
// for it.
func (a *Archive) decode(f *zip.File, into any) error {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("unpack %q: %w", f.Name, err)
	}
	defer r.Close()
	most := min(maxFile, a.left, max(leastBomb, int64(min(f.CompressedSize64, maxFile))*maxPacked))
	text, err := io.ReadAll(io.LimitReader(r, most+1))
	if int64(len(text)) > most {
		return fmt.Errorf("unpack %q: %w", f.Name, ErrBomb)
	}
	if err != nil {
		return fmt.Errorf("unpack %q: %w", f.Name, err)
	}
	a.left -= int64(len(text))
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %q: %w", f.Name, err)
	}
	return nil
}

// Days returns the number of message files.
func (a *Archive) Days() int {
	n := 0
	for _, c := range a.channels {
		n += len(a.files[c.Name])
	}
	return n
}

// Items yields the messages of each channel per day, oldest day first. An error
// concerns one day and the next days follow, except after ErrBomb.
func (a *Archive) Items() iter.Seq2[[]source.Item, error] {
	return func(yield func([]source.Item, error) bool) {
		for _, c := range a.channels {
			files := a.files[c.Name]
			slices.SortFunc(files, func(x, y *zip.File) int { return strings.Compare(x.Name, y.Name) })
			for _, f := range files {
				var messages []Message
				err := a.decode(f, &messages)
				if !yield(a.items(c, messages), err) || errors.Is(err, ErrBomb) {
					return
				}
			}
		}
	}
}

var mention = regexp.MustCompile(`<@([A-Z0-9]+)(?:\|[^<>]*)?>`)

func (a *Archive) items(c channel, messages []Message) []source.Item {
	var items []source.Item
	for _, m := range messages {
		if i, ok := m.named(a.users).Item(c.ID, c.Name); ok {
			items = append(items, i)
		}
	}
	return items
}

// named returns m with the names of users, by id, in place of their ids.
func (m Message) named(users map[string]string) Message {
	if name, ok := users[m.User]; ok {
		m.User = name
	}
	m.Text = mention.ReplaceAllStringFunc(m.text(), func(mark string) string {
		if name, ok := users[mention.FindStringSubmatch(mark)[1]]; ok {
			return "@" + name
		}
		return mark
	})
	m.Blocks, m.Attachments = nil, nil // they are in the text
	return m
}
