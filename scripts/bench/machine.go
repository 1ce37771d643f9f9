package main

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// machine describes the machine of the measurement.
func machine() string {
	return fmt.Sprintf("%s, %d cores, %s memory, %s/%s, %s", field("/proc/cpuinfo", "model name", "unknown processor"),
		runtime.NumCPU(), memory(), runtime.GOOS, runtime.GOARCH, runtime.Version())
}

func memory() string {
	var kilobytes int64
	if _, err := fmt.Sscan(field("/proc/meminfo", "MemTotal", ""), &kilobytes); err != nil {
		return "unknown"
	}
	return fmt.Sprintf("%.1f GiB", float64(kilobytes)/(1<<20))
}

// field returns the value of the first "name: value" line of a file, or otherwise.
func field(file, name, otherwise string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return otherwise
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}
