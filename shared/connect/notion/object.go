package notion

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"docent/shared/connect/rest"
	"docent/shared/source"
)

const (
	dataSourceKind = "data_source"
	maxDepth       = 100 // of pages below pages
)

// object is a page, or a data source of a database, as the search returns it.
type object struct {
	Object     string              `json:"object"`
	ID         string              `json:"id"`
	Created    time.Time           `json:"created_time"`
	Edited     time.Time           `json:"last_edited_time"`
	InTrash    bool                `json:"in_trash"`
	Parent     parent              `json:"parent"`
	Container  parent              `json:"database_parent"` // of a data source: what its database is in
	Properties map[string]property `json:"properties"`      // of a data source: without values
	Title      texts               `json:"title"`           // of a data source or database
	About      texts               `json:"description"`
}

// parent says what an object is in.
type parent struct {
	Type       string `json:"type"`
	Page       string `json:"page_id"`
	Database   string `json:"database_id"`
	DataSource string `json:"data_source_id"`
	Block      string `json:"block_id"`
}

// at returns where the parent is in the API, and its id; empty: it is the workspace.
func (p parent) at() (kind, id string) {
	switch {
	case p.Type == "page_id":
		return "pages", p.Page
	case p.Type == "block_id":
		return "blocks", p.Block
	case p.Type == "data_source_id" && p.Database != "":
		return "databases", p.Database
	case p.Type == "data_source_id":
		return "data_sources", p.DataSource
	case p.Type == "database_id":
		return "databases", p.Database
	default:
		return "", ""
	}
}

// texts is rich text.
type texts []struct {
	Plain string `json:"plain_text"`
}

func (t texts) String() string {
	var b strings.Builder
	for _, one := range t {
		b.WriteString(one.Plain)
	}
	return b.String()
}

func (o object) uri() string {
	if o.Object == dataSourceKind {
		database := o.Parent.Database
		if database == "" {
			database = o.ID
		}
		return site + short(database) + fragment + short(o.ID)
	}
	return site + short(o.ID)
}

func (o object) title() string {
	if o.Object == dataSourceKind {
		return source.ClipTitle(o.Title.String())
	}
	for _, p := range o.Properties {
		if p.Type == "title" {
			return source.ClipTitle(p.Title.String())
		}
	}
	return source.ClipTitle("")
}

// object asks Notion for an object of a kind.
func (s *session) object(ctx context.Context, kind, id string) (object, error) {
	o, _, err := rest.Get[object](ctx, s.api, "v1/"+kind+"/"+id)
	if err == nil && o.Parent.Type == "" { // else it would be in the workspace, and not below a root
		err = &source.SyncError{Code: source.Unreadable, Detail: "Notion does not say what " + id + " is in."}
	}
	return o, err
}

// lookUpRoots returns an error that names a root page that cannot be read.
func (s *session) lookUpRoots(ctx context.Context) error {
	for _, address := range s.settings.List(roots) {
		if err := s.lookUpRoot(ctx, address); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) lookUpRoot(ctx context.Context, address string) error {
	id := idOf(address)
	_, err := s.object(ctx, "pages", id)
	var failed *source.SyncError
	if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
		_, err = s.object(ctx, "databases", id)
	}
	if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
		return &source.SyncError{Code: source.NotThere, Cause: err, Detail: "The root page " + address +
			" is not shared with the integration, or does not exist. To share it, open it in Notion and add the integration in its menu under Connections."}
	}
	return err
}

// isBelow reports whether o is a root or below one; without roots everything is. It asks
// Notion for the parents that it does not know.
func (s *session) isBelow(ctx context.Context, o object) (bool, error) {
	if len(s.roots) == 0 {
		return true, nil
	}
	var path []string
	inside := false
	for at, depth := o, 0; ; depth++ {
		id := short(at.ID)
		known, found := s.below[id]
		if found || s.roots[id] || s.roots[short(at.Parent.Database)] {
			inside = known || !found
			break
		}
		path = append(path, id)
		up := at.Parent
		if at.Object == dataSourceKind && at.Container.Type != "" {
			up = at.Container
		}
		kind, next := up.at()
		if next == "" || depth == maxDepth {
			break // the workspace
		}
		var err error
		at, err = s.object(ctx, kind, next)
		var failed *source.SyncError
		if errors.As(err, &failed) && (failed.Code == source.NotThere || failed.Code == source.Refused) {
			break // it is not shared, and so is what is above it
		}
		if err != nil {
			return false, fmt.Errorf("read what %s is in: %w", o.uri(), err)
		}
		if short(at.ID) == "" {
			at.ID = next
		}
	}
	for _, id := range path {
		s.below[id] = inside
	}
	return inside, nil
}
