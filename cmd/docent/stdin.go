package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxText is the number of bytes read of a question or a query: more than its 10,000 characters may have, so that a longer one is refused.
const maxText = 64 << 10

// standardInput returns standard input. A read that waits for more ends with ctx: an interrupt stops the command at once.
func standardInput(ctx context.Context) io.Reader {
	from := os.Stdin
	read, write := io.Pipe()
	context.AfterFunc(ctx, func() { _ = write.CloseWithError(ctx.Err()) })
	go func() {
		_, err := io.Copy(write, from)
		_ = write.CloseWithError(err)
	}()
	return read
}

// typed returns the text of an argument, or that of standard input if it is -. The name of the argument is for the error.
func typed(ctx context.Context, name, argument string) (string, error) {
	if argument != "-" {
		return argument, nil
	}
	raw, err := io.ReadAll(io.LimitReader(standardInput(ctx), maxText))
	if err != nil {
		return "", fmt.Errorf("read the %s from standard input: %w", name, err)
	}
	text := strings.TrimSpace(strings.TrimPrefix(strings.ToValidUTF8(string(raw), "\ufffd"), "\ufeff"))
	if text == "" {
		return "", usageError{errors.New("standard input, which - stands for, is empty")}
	}
	return text, nil
}
