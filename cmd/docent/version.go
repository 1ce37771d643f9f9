package main

import (
	"runtime/debug"
	"strings"
)

// version is set when a release is linked (.goreleaser.yaml); empty in other builds.
var version string

// build is the output of docent version; its JSON omits unknown fields.
type build struct {
	Version string `json:"version"`          // of the release, or what the Go tool says: a pseudo-version or devel
	Commit  string `json:"commit,omitempty"` // hash of the commit, with -dirty if files had changed
	Date    string `json:"date,omitempty"`   // of the commit, as RFC 3339
}

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints the version.
func (c *versionCmd) Run(con *console) error {
	info, _ := debug.ReadBuildInfo()
	b := buildOf(version, info)
	if c.JSON {
		return printJSON(con.out, b)
	}
	return printf(con.out, "docent %s\n", b)
}

// String returns the build in one line: 0.2.0 (commit 7c15678…, 2026-11-21T23:30:00Z).
func (b build) String() string {
	var more []string
	if b.Commit != "" {
		more = append(more, "commit "+b.Commit)
	}
	if b.Date != "" {
		more = append(more, b.Date)
	}
	if len(more) == 0 {
		return b.Version
	}
	return b.Version + " (" + strings.Join(more, ", ") + ")"
}

// versionText returns the version alone.
func versionText() string {
	info, _ := debug.ReadBuildInfo()
	return buildOf(version, info).Version
}

// buildOf returns the version that a release has set, completed by what the Go tool recorded in the program. After go
// install that is a version, after go build in a checkout a version and a commit. With a nil info nothing was recorded.
func buildOf(version string, info *debug.BuildInfo) build {
	b := build{Version: version}
	if info == nil {
		info = &debug.BuildInfo{}
	}
	if b.Version == "" && info.Main.Version != "(devel)" {
		b.Version = info.Main.Version
	}
	if b.Version == "" {
		b.Version = "devel"
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	b.Commit, b.Date = settings["vcs.revision"], settings["vcs.time"]
	if b.Commit != "" && settings["vcs.modified"] == "true" {
		b.Commit += "-dirty"
	}
	return b
}
