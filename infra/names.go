package main

import (
	"strings"

	"github.com/aws/jsii-runtime-go"
)

// id returns the name of a resource in the stack: words without spaces, each capitalised.
func id(words ...string) *string {
	var b strings.Builder
	for _, w := range words {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return jsii.String(b.String())
}

// functionID returns the name of a function in the stack. Dashboard was a page of graphs in version 0.1.0, and CloudFormation refuses an
// update that gives a name to a resource of another type.
func functionID(name string) *string {
	if name == "dashboard" {
		return id(name, "Function")
	}
	return id(name)
}
