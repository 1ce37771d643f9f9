package main

import "runtime/debug"

// version is set when the program is linked for a release.
var version string

type versionCmd struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// Run prints the version.
func (c *versionCmd) Run(con *console) error {
	if c.JSON {
		return printJSON(con.out, map[string]string{"version": versionText()})
	}
	return printf(con.out, "docent %s\n", versionText())
}

// versionText returns the release, else what the Go tool knows of the build.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}
