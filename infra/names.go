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
