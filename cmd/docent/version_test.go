package main

import (
	"runtime/debug"
	"testing"
)

func TestVersionSaysWhatIsKnownOfTheBuild(t *testing.T) {
	t.Parallel()
	const hash, at = "7c15678680e4a10a2b02baa7fe31f3068c81cf92", "2026-11-21T23:30:00Z"
	stamped := func(version, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
			{Key: "vcs.revision", Value: hash}, {Key: "vcs.time", Value: at}, {Key: "vcs.modified", Value: modified}}}
	}
	for name, c := range map[string]struct {
		version string
		info    *debug.BuildInfo
		want    string
	}{
		"a release":                     {"0.2.0", stamped("v0.0.0-2026", "false"), "0.2.0 (commit " + hash + ", " + at + ")"},
		"go install":                    {"", &debug.BuildInfo{Main: debug.Module{Version: "v0.2.0"}}, "v0.2.0"},
		"go build in a checkout":        {"", stamped("v0.1.1-0.20261121", "false"), "v0.1.1-0.20261121 (commit " + hash + ", " + at + ")"},
		"a checkout with changed files": {"", stamped("(devel)", "true"), "devel (commit " + hash + "-dirty, " + at + ")"},
		"no version control":            {"", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "devel"},
		"nothing recorded":              {"", nil, "devel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := buildOf(c.version, c.info).String(); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
