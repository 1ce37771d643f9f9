package app

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"docent/shared/access"
	"docent/shared/apierr"
	"docent/shared/collection"
	"docent/shared/document"
	"docent/shared/table"
	"docent/shared/team"
)

//go:embed sample/*.md sample/private/*.md
var sample embed.FS

// demoFile is in the data folder from before the demo team is made until its keys were shown. Without it, a start that was killed
// or met a full disk would leave a team whose keys nobody knows.
const demoFile = "demo.unfinished"

// The demo team and its first member.
const (
	demoName  = "Demo"
	demoAdmin = "demo@example.com"
)

// greet prints the address of the API. On a first start it creates the demo team and
// prints its keys, once; if such a start was interrupted, it continues it.
func (l *Local) greet(ctx context.Context, c ServeConfig) error {
	teams, err := l.Teams.Teams(ctx)
	if err != nil {
		return fmt.Errorf("look for teams: %w", err)
	}
	unfinished := filepath.Join(l.folder, demoFile)
	_, lacks := os.Lstat(unfinished)
	if !c.Demo || len(teams) > 1 || len(teams) == 1 && (lacks != nil || teams[0].Name != demoName) {
		c.tell(ctx, fmt.Sprintf("Docent is ready at %s (data in %s).\n%s", c.BaseURL, c.DataDir, l.signInText(ctx, c, teams)))
		return nil
	}
	// Made whole also if ctx ends: the next start would find a team whose keys nobody was shown.
	stopped := ctx.Done()
	ctx = context.WithoutCancel(ctx)
	if err := os.WriteFile(unfinished, nil, 0o600); err != nil {
		return fmt.Errorf("make the demo team: %w", err)
	}
	admin, teamWide, err := l.demoTeam(ctx, stopped, teams)
	if err != nil {
		return fmt.Errorf("make the demo team: %w", err)
	}
	if teams, err = l.Teams.Teams(ctx); err != nil {
		return fmt.Errorf("look for teams: %w", err)
	}
	question := newID()
	_, err = fmt.Fprintf(c.Out, `Docent is ready at %[1]s (data in %[2]s).
%[7]s
This is its first start, so it made a demo team with a sample collection about
Docent itself. The team's keys are shown this once:

  admin's personal key  %[3]s
  team key              %[4]s

Besides its admin, the team has two people: ada@example.com may read a private page,
ben@example.com and the admin may not. The team key reads it, and may act for each person.

Ask your first question:

  curl -sS -X PUT %[1]s/answers/%[5]s -H 'Authorization: Bearer %[4]s' \
       -H 'Content-Type: application/json' -d '{"question":"How many questions may a team ask per day?"}'
  curl -sS %[1]s/answers/%[5]s -H 'Authorization: Bearer %[4]s' -H 'Prefer: wait=20'

Or on the command line:

  export DOCENT_SERVER=%[1]s DOCENT_API_KEY=%[4]s
  %[6]s ask "What happens when I delete a collection?"
  %[6]s ask --as ada@example.com "Where is the summer party?"
  %[6]s ask --as ben@example.com "Where is the summer party?"
`, c.BaseURL, c.DataDir, admin, teamWide, question, c.Program, l.signInText(ctx, c, teams))
	if err == nil {
		err = os.Remove(unfinished)
	}
	return err
}

// signInText returns the line about signing in to the dashboard as the first admin of the only team, if there is one. It has a one-time link
// for a person who tries Docent. Without a demo, what is printed goes to a log, whose readers must not become admin.
func (l *Local) signInText(ctx context.Context, c ServeConfig, teams []team.Team) string {
	if c.Parts.Pages == nil || len(teams) != 1 {
		return ""
	}
	admin, err := l.Teams.FirstAdmin(ctx, teams[0].ID)
	if err != nil {
		return ""
	}
	if !c.Demo {
		return fmt.Sprintf("To open the dashboard, signed in: %s\n", openCommand(c))
	}
	code, _, err := l.Teams.Invite(ctx, teams[0].ID, admin.ID)
	if err != nil {
		c.Log.WarnContext(ctx, "no sign-in link", "err", err)
		return ""
	}
	return fmt.Sprintf("\nOpen the dashboard, signed in (once, within 15 minutes; later: %s):\n\n  %s\n", openCommand(c), SignInURL(c.BaseURL, code))
}

// What docent open takes without flags: the data folder, in the working directory, and the API's address.
const (
	usualData = "data"
	usualBase = "http://127.0.0.1:8080/v1"
)

// openCommand returns the command that opens the dashboard of this server later.
func openCommand(c ServeConfig) string {
	command := c.Program + " open"
	usual, err := filepath.Abs(usualData)
	if folder, failed := filepath.Abs(c.DataDir); err != nil || failed != nil || folder != usual {
		command += " --data " + quoted(c.DataDir)
	}
	if c.BaseURL != usualBase {
		command += " --server " + quoted(c.BaseURL)
	}
	return command
}

// quoted returns text as one word of a shell.
func quoted(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-:", r)
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// demoTeam creates the demo team and its sample collection, or completes the one of teams, and waits until the samples
// can be found, or stopped is closed.
func (l *Local) demoTeam(ctx context.Context, stopped <-chan struct{}, teams []team.Team) (admin, teamWide string, err error) {
	var t team.Team
	if len(teams) == 1 {
		t = teams[0]
	} else if t, _, err = l.Teams.CreateTeam(ctx, demoName, demoAdmin); err != nil {
		return "", "", err
	}
	about, err := l.demoCollection(ctx, t.ID)
	if err != nil {
		return "", "", err
	}
	pages, err := fs.Glob(sample, "sample/*.md")
	if err != nil {
		return "", "", err
	}
	for _, page := range pages {
		if err := l.putSample(ctx, stopped, t.ID, about.ID, page, nil); err != nil {
			return "", "", fmt.Errorf("%s: %w", page, err)
		}
	}
	ada, err := l.demoPerson(ctx, t.ID, "ada@example.com")
	if err != nil {
		return "", "", err
	}
	if _, err := l.demoPerson(ctx, t.ID, "ben@example.com"); err != nil {
		return "", "", err
	}
	onlyAda := &access.Rule{Users: []access.Entry{{Name: ada.UserName, ID: ada.ID}}}
	if err := l.putSample(ctx, stopped, t.ID, about.ID, "sample/private/summer-party.md", onlyAda); err != nil {
		return "", "", fmt.Errorf("the private page: %w", err)
	}
	return l.demoKeys(ctx, t.ID)
}

// demoKeys creates the keys of the demo team, in place of those of a start that did not show them.
func (l *Local) demoKeys(ctx context.Context, teamID string) (admin, teamWide string, err error) {
	unseen, err := l.Teams.Keys(ctx, teamID, table.Window{Limit: 100})
	if err != nil {
		return "", "", err
	}
	keys := map[string]team.NewKey{"demo admin": {Kind: team.KindPersonal}, "demo": {Kind: team.KindTeam, ActFor: true}}
	for _, k := range unseen.Entries {
		if of, ok := keys[k.Value.Name]; ok && of.Kind == k.Value.Kind {
			if err := l.Teams.RevokeKey(ctx, teamID, k.Value.ID); err != nil {
				return "", "", err
			}
		}
	}
	user, err := l.Teams.UserByName(ctx, teamID, demoAdmin)
	if err != nil {
		return "", "", err
	}
	if _, admin, err = l.Teams.CreateKey(ctx, teamID, team.NewKey{Kind: team.KindPersonal, Name: "demo admin", UserID: user.ID}); err != nil {
		return "", "", err
	}
	_, teamWide, err = l.Teams.CreateKey(ctx, teamID, team.NewKey{Kind: team.KindTeam, Name: "demo", ActFor: true})
	return admin, teamWide, err
}

// demoCollection returns the sample collection, which it creates if it is missing.
func (l *Local) demoCollection(ctx context.Context, teamID string) (collection.Collection, error) {
	fields := collection.Fields{Name: "About Docent", Description: "How Docent works and how to use it, by its makers."}
	all, err := l.collections.All(ctx, teamID)
	if err != nil {
		return collection.Collection{}, err
	}
	for _, c := range all {
		if c.Name == fields.Name {
			return c, nil
		}
	}
	return l.collections.Create(ctx, teamID, fields, nil, collection.IdempotencyKey{})
}

// demoPerson returns a member of the demo team, who is created if missing.
func (l *Local) demoPerson(ctx context.Context, teamID, userName string) (team.User, error) {
	user, err := l.Teams.UserByName(ctx, teamID, userName)
	if err == nil || !apierr.IsCode(err, apierr.CodeNotFound) {
		return user, err
	}
	p, err := l.Teams.NewProfile(fmt.Appendf(nil, `{"userName":%q}`, userName))
	if err != nil {
		return team.User{}, fmt.Errorf("create %s: %w", userName, err)
	}
	return p.User, l.Teams.InsertProfile(ctx, teamID, p)
}

// samplePatience bounds the wait for one sample page to be indexed. If it passes, or the process is
// stopped, the demo starts anyway and finds the page a little later.
const samplePatience = 10 * time.Second

func (l *Local) putSample(ctx context.Context, stopped <-chan struct{}, teamID, collectionID, page string, rule *access.Rule) error {
	text, err := sample.ReadFile(page)
	if err != nil {
		return err
	}
	heading, _, _ := strings.Cut(string(text), "\n")
	id, _, err := l.documents.Put(ctx, teamID, document.Input{
		Fields: document.Fields{CollectionID: collectionID, Title: strings.TrimPrefix(heading, "# "),
			URI: "https://docent.example/docs/" + strings.TrimSuffix(path.Base(page), ".md")},
		Body: string(text), Match: func(int64) error { return nil }, Who: document.Anyone(), Access: rule,
	})
	if err != nil {
		return err
	}
	for end := time.Now().Add(samplePatience); time.Now().Before(end); {
		select {
		case <-stopped:
			return nil
		default:
		}
		d, err := l.documents.Get(ctx, teamID, id, document.Anyone())
		if err != nil || d.Indexing.State != document.Pending {
			return err
		}
		if err := l.wait(ctx); err != nil {
			return err
		}
	}
	return nil
}
