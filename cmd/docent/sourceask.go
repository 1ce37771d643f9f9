package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"

	"docent/client"
	"docent/shared/source"
)

// maxAsked is how often a setting that the server rejects is asked for.
const maxAsked = 3

// asker returns a console's ask, which writes questions to out and waits until ctx ends; nil if out or the
// standard input is not a terminal.
func asker(ctx context.Context, out io.Writer) func(question string, secret bool) (string, error) {
	in := os.Stdin
	if !isTerminal(in) || !isTerminal(out) {
		return nil
	}
	return func(question string, secret bool) (string, error) {
		if _, err := io.WriteString(out, question); err != nil {
			return "", err
		}
		if !secret {
			return answered(ctx, func() (string, error) { return readLine(in) })
		}
		shown, err := term.GetState(int(in.Fd()))
		if err != nil {
			return "", err
		}
		line, err := answered(ctx, func() (string, error) {
			line, err := term.ReadPassword(int(in.Fd()))
			return string(line), err
		})
		_, printed := fmt.Fprintln(out) // the terminal does not show the end of the line either
		if ctx.Err() != nil {
			err = errors.Join(err, term.Restore(int(in.Fd()), shown)) // the reader still waits
		}
		return line, errors.Join(err, printed)
	}
}

// answered returns what read returns, or the error of ctx if that ends first: an interrupt does not end the read.
func answered(ctx context.Context, read func() (string, error)) (string, error) {
	type answer struct {
		line string
		err  error
	}
	got := make(chan answer, 1)
	go func() {
		line, err := read()
		got <- answer{line, err}
	}()
	select {
	case a := <-got:
		if errors.Is(a.err, io.EOF) {
			return "", errors.New("the input ended before the answer")
		}
		return a.line, a.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// readLine reads a line without reading ahead, so that the next question gets the rest.
func readLine(in io.Reader) (string, error) {
	var line []byte
	for b := []byte{0}; ; line = append(line, b[0]) {
		if _, err := io.ReadFull(in, b); err != nil || b[0] == '\n' {
			return strings.TrimSuffix(string(line), "\r"), err
		}
	}
}

// add connects a data source of p. It asks for what the flags do not give, and again for a
// setting that the server rejects. It returns the settings that it sent, also with an error.
func (c *sourceAddCmd) add(ctx context.Context, con *console, api *client.Client, p source.Provider) (client.DataSource, map[string]any, error) {
	s := client.NewSource{Provider: c.Provider, Name: c.Name, Settings: c.flags.settings(p)}
	if con.ask == nil {
		if s.Name == "" {
			return client.DataSource{}, s.Settings, errors.New("the data source has no name; give one with --name")
		}
		d, err := api.AddSource(ctx, s)
		return d, s.Settings, err
	}
	d, err := c.asking(ctx, con, api, p, &s)
	return d, s.Settings, err
}

// asking is add on a terminal.
func (c *sourceAddCmd) asking(ctx context.Context, con *console, api *client.Client, p source.Provider, s *client.NewSource) (client.DataSource, error) {
	if s.Name == "" {
		name, err := con.ask(fmt.Sprintf("Name (default %s): ", c.Provider), false)
		if err != nil {
			return client.DataSource{}, err
		}
		if s.Name = strings.TrimSpace(name); s.Name == "" {
			s.Name = c.Provider
		}
	}
	for _, setting := range p.Settings {
		if !given(p, s.Settings, setting) {
			if err := askSetting(con, setting, s.Settings); err != nil {
				return client.DataSource{}, err
			}
		}
	}
	for asked := 1; ; asked++ {
		d, err := api.AddSource(ctx, *s)
		wrong, ok := rejected(p, err)
		if !ok || asked == maxAsked {
			return d, err
		}
		if err := printf(con.err, "docent: %s\n", explain(c.flags.explained(p, nil, err), con.now(), "docent source add")); err != nil {
			return client.DataSource{}, err
		}
		if err := askSetting(con, wrong, s.Settings); err != nil {
			return client.DataSource{}, err
		}
	}
}

// given reports whether settings contain the setting one, or another one that excludes it.
func given(p source.Provider, settings map[string]any, one source.Setting) bool {
	for _, s := range p.Settings {
		if settings[s.Name] != nil && (s.Name == one.Name || s.Either != "" && s.Either == one.Either) {
			return true
		}
	}
	return false
}

// askSetting asks for a setting. No answer leaves it out.
func askSetting(con *console, s source.Setting, settings map[string]any) error {
	first, size := utf8.DecodeRuneInString(s.Help)
	question := strings.ToUpper(string(first)) + s.Help[size:]
	switch {
	case s.Kind == source.Secret:
		question += " (not shown)"
	case s.Kind == source.List:
		question += fmt.Sprintf(" (%s; several with blanks between)", s.Placeholder)
	case s.Placeholder != "":
		question += fmt.Sprintf(" (%s)", s.Placeholder)
	}
	line, err := con.ask(question+": ", s.Kind == source.Secret)
	if err != nil {
		return err
	}
	delete(settings, s.Name)
	switch words := strings.Fields(line); {
	case len(words) == 0:
	case s.Kind == source.List:
		settings[s.Name] = words
	default:
		settings[s.Name] = strings.TrimSpace(line)
	}
	return nil
}

// rejected returns the setting that a refusal is about, if it is about one.
func rejected(p source.Provider, err error) (source.Setting, bool) {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return source.Setting{}, false
	}
	for _, f := range refused.Fields {
		if s, ok := settingAt(p, f.Pointer); ok {
			return s, true
		}
	}
	return source.Setting{}, false
}

// settingAt returns the setting of p that pointer is about, if it is about one.
func settingAt(p source.Provider, pointer string) (source.Setting, bool) {
	below, ok := strings.CutPrefix(pointer, "/settings/")
	name, _, _ := strings.Cut(below, "/")
	for _, s := range p.Settings {
		if ok && s.Name == name {
			return s, true
		}
	}
	return source.Setting{}, false
}

// explained returns err with the flags of faulty settings instead of their JSON pointers. sent are the settings of a
// new source, nil for a change. It returns any other error as it is.
func (f providerFlags) explained(p source.Provider, sent map[string]any, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) || len(refused.Fields) == 0 {
		return err
	}
	var faults []string
	for _, fault := range refused.Fields {
		s, ok := settingAt(p, fault.Pointer)
		switch either := eitherFlags(p); {
		case ok && s.Kind == source.Secret && sent != nil && sent[s.Name] == nil:
			faults = append(faults, fmt.Sprintf("set %s, or name another variable with --%s", f.variable(s), s.Flag))
		case ok:
			faults = append(faults, "--"+s.Flag+": "+fault.Detail)
		case fault.Pointer == "/settings" && either != "":
			faults = append(faults, "give "+either)
		default:
			return err
		}
	}
	plain := *refused
	plain.Detail = strings.Join(faults, "; ")
	return &plain
}

// eitherFlags returns the flags of p that exclude each other, as in "--a or --b".
func eitherFlags(p source.Provider) string {
	var flags []string
	for _, s := range p.Settings {
		if s.Either != "" {
			flags = append(flags, "--"+s.Flag)
		}
	}
	return strings.Join(flags, " or ")
}
