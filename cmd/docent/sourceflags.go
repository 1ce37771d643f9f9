package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"docent/shared/source"
)

// providerFlags has a flag for each setting of the providers.
type providerFlags struct {
	plugins kong.Plugins   // what kong parses: one struct
	index   map[string]int // of a flag's field in it
}

// newProviderFlags returns the flags of providers. Settings of several providers
// with the same flag share it.
func newProviderFlags(providers []source.Provider) providerFlags {
	f := providerFlags{index: map[string]int{}}
	var fields []reflect.StructField
	help := map[string][]string{}
	var order []source.Setting
	for _, p := range providers {
		for _, s := range p.Settings {
			if help[s.Flag] == nil {
				order = append(order, s)
			}
			help[s.Flag] = append(help[s.Flag], string(p.Name)+": "+flagHelp(s))
		}
	}
	for i, s := range order {
		kind := reflect.TypeFor[string]()
		if s.Kind == source.List {
			kind = reflect.TypeFor[[]string]()
		}
		placeholder := s.Placeholder
		if s.Kind == source.Secret {
			placeholder = "NAME"
		}
		tag := fmt.Sprintf("name:%s placeholder:%s help:%s", strconv.Quote(s.Flag), strconv.Quote(placeholder), strconv.Quote(strings.Join(help[s.Flag], " ")))
		if s.Either != "" {
			tag += " xor:" + strconv.Quote(s.Either)
		}
		f.index[s.Flag] = i
		fields = append(fields, reflect.StructField{Name: "Flag" + strconv.Itoa(i), Type: kind, Tag: reflect.StructTag(tag)})
	}
	f.plugins = kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}
	return f
}

func flagHelp(s source.Setting) string {
	if s.Kind == source.Secret {
		return fmt.Sprintf("environment variable with %s (default %s).", s.Help, s.Env)
	}
	if s.Kind == source.List {
		return s.Help + "; may be repeated."
	}
	return s.Help + "."
}

// settings returns the settings of p that the flags give.
func (f providerFlags) settings(p source.Provider) map[string]any {
	given := reflect.ValueOf(f.plugins[0]).Elem()
	out := map[string]any{}
	for _, s := range p.Settings {
		value := given.Field(f.index[s.Flag])
		switch {
		case s.Kind == source.Secret:
			if secret := os.Getenv(f.variable(s)); secret != "" {
				out[s.Name] = secret
			}
		case !value.IsZero():
			out[s.Name] = value.Interface()
		}
	}
	return out
}

// variable returns the name of the environment variable that holds a secret.
func (f providerFlags) variable(s source.Setting) string {
	return cmp.Or(reflect.ValueOf(f.plugins[0]).Elem().Field(f.index[s.Flag]).String(), s.Env)
}

// check returns an error for a given flag that is not a setting of p.
func (f providerFlags) check(p source.Provider) error {
	given := reflect.ValueOf(f.plugins[0]).Elem()
	for _, flag := range slices.Sorted(maps.Keys(f.index)) {
		own := slices.ContainsFunc(p.Settings, func(s source.Setting) bool { return s.Flag == flag })
		if !own && !given.Field(f.index[flag]).IsZero() {
			return usageError{fmt.Errorf("--%s is not a setting of %s", flag, p.Name)}
		}
	}
	return nil
}

// changed returns the settings of p that the flags name. Unlike settings, it leaves out a secret whose flag is not
// given, and an empty variable is an error.
func (f providerFlags) changed(p source.Provider) (map[string]any, error) {
	given := reflect.ValueOf(f.plugins[0]).Elem()
	out := f.settings(p)
	for _, s := range p.Settings {
		name := ""
		if s.Kind == source.Secret {
			name = given.Field(f.index[s.Flag]).String()
		}
		switch {
		case s.Kind != source.Secret:
		case name == "":
			delete(out, s.Name)
		case out[s.Name] == nil:
			return nil, usageError{fmt.Errorf("the environment variable %s of --%s is empty", name, s.Flag)}
		}
	}
	return out, nil
}

// providerNames lists the names of the providers that keep accepts, as in "a, b and c".
func providerNames(providers []source.Provider, keep func(source.Provider) bool) string {
	var names []string
	for _, p := range providers {
		if keep(p) {
			names = append(names, string(p.Name))
		}
	}
	slices.Sort(names)
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
