package main

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/testscript"

	"docent/shared/app/parts/saml/samltest"
)

// Target is an installation of Docent that scripts are played against.
type Target struct {
	Name  string // "serve", "stack" or "remote"; a condition of scripts
	Base  string // of the API as its replies name it, without a trailing slash
	At    string // of the API as seen from here; usually Base
	Admin string // personal key of an admin of a team that scripts may fill and empty
	Rival string // the same for another team
	// Fault breaks a part of the target ("tables", "queues", "bucket") or repairs all ("none"). Nil: not supported.
	Fault func(part string) error
	// Refusals returns the calls to AWS of functions that their policies do not allow. Nil: not recorded.
	Refusals func() []string
	// Unsealed means that the target has no key for the secrets of data sources.
	Unsealed bool
}

// patience bounds every wait of a script. The longest is for the sweeper, which runs every minute and sends again
// what has been pending for a minute.
const patience = 150 * time.Second

// params returns testscript's parameters for playing files against a target.
func params(h Target, files []string) testscript.Params {
	p := &player{target: h, patient: patience, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	return testscript.Params{
		Files: files, Cmds: p.commands(), RequireUniqueNames: true,
		Condition: func(name string) (bool, error) {
			switch name {
			case "serve", "stack", "remote":
				return name == h.Name, nil
			case "aws":
				return h.Name != "serve", nil
			case "sealed":
				return !h.Unsealed, nil
			case "faults":
				return h.Fault != nil, nil
			}
			return false, fmt.Errorf("there is no condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Values[lastReply{}] = &reply{}
			env.Values[provider{}] = new(*samltest.Provider)
			// With unique names, scripts can be played again against the same target.
			env.Setenv("RUN", uuid.NewString()[:8])
			env.Setenv("TODAY", time.Now().UTC().Format(time.DateOnly))
			env.Setenv("ADMIN", h.Admin)
			env.Setenv("RIVAL_ADMIN", h.Rival)
			return p.keys(env)
		},
	}
}

// outcome is the result of a script.
type outcome struct {
	name    string
	failed  bool
	skipped bool
	took    time.Duration
}

// play plays files one after the other and reports each on out.
func play(h Target, files []string, out io.Writer) []outcome {
	r := &runner{out: out}
	testscript.RunT(r, params(h, files))
	return r.outcomes
}

// runner stands in for testing.T in a program: it runs each script alone and prints only failures.
type runner struct {
	out      io.Writer
	outcomes []outcome

	current outcome
	log     strings.Builder
}

// Run runs one script to its end.
func (r *runner) Run(name string, script func(testscript.T)) {
	one := &runner{out: r.out, current: outcome{name: name}}
	begin, ended := time.Now(), make(chan struct{})
	go func() {
		defer close(ended)
		script(one)
	}()
	<-ended
	one.current.took = time.Since(begin)
	r.outcomes = append(r.outcomes, one.current)
	switch o := one.current; {
	case o.failed:
		fmt.Fprintf(r.out, "FAIL  %-28s %s\n%s\n", o.name, o.took.Round(time.Millisecond), &one.log)
	case o.skipped:
		fmt.Fprintf(r.out, "skip  %-28s %s\n", o.name, strings.TrimSpace(one.log.String()))
	default:
		fmt.Fprintf(r.out, "ok    %-28s %s\n", o.name, o.took.Round(time.Millisecond))
	}
}

// Skip skips the script.
func (r *runner) Skip(args ...any) {
	r.current.skipped = true
	r.Log(args...)
	runtime.Goexit()
}

// Fatal reports args and ends the script.
func (r *runner) Fatal(args ...any) { r.Log(args...); r.FailNow() }

// Parallel does nothing: scripts run one after the other.
func (r *runner) Parallel() {}

// Log keeps args for the report.
func (r *runner) Log(args ...any) { fmt.Fprintln(&r.log, args...) }

// FailNow ends the script.
func (r *runner) FailNow() { r.current.failed = true; runtime.Goexit() }

// Verbose is false: a script that passes prints nothing.
func (r *runner) Verbose() bool { return false }
