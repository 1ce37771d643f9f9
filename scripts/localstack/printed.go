package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

var (
	command = regexp.MustCompile(`(?m)^  (.+)$`)
	address = regexp.MustCompile(`(?m)^Docent is at (http://\S+)$`)
	secret  = regexp.MustCompile(`docent_pat_\w+`)
)

// foundWait is how long it may take until a document is found.
const foundWait = 2 * time.Minute

// play runs the commands that the script prints, as a reader would, and checks their output. The last one asks
// about a document, and is repeated until the document is found.
func play(ctx context.Context, root, printed string, out io.Writer) error {
	lines, err := commands(printed)
	if err != nil {
		return err
	}
	first, question := strings.Join(lines[:len(lines)-1], "\n"), lines[len(lines)-1]
	said, err := shell(ctx, root, first, out)
	if err != nil {
		return err
	}
	for _, want := range []string{`"name":"Local"`, " put, "} {
		if !strings.Contains(said, want) {
			return fmt.Errorf("the printed commands do not say %q", want)
		}
	}
	settings := regexp.MustCompile(`(?m)^export .*$`).FindString(first)
	for end := time.Now().Add(foundWait); ; {
		if said, err = shell(ctx, root, settings+"\n"+question, out); err != nil {
			return err
		}
		if strings.Contains(said, "docent queue redrive") && strings.Contains(said, "References:") {
			return links(ctx, printed, out)
		}
		if time.Now().After(end) {
			return fmt.Errorf("the question is not answered from the document within %v", foundWait)
		}
	}
}

// shell runs commands in the root of the project and returns their output.
func shell(ctx context.Context, root, commands string, out io.Writer) (string, error) {
	program := exec.CommandContext(ctx, "/bin/sh", "-eu", "-c", commands)
	program.Dir = root
	// docent remembers in the user's cache what it has put.
	program.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(root, ".cache", "localstack-stack"))
	var said bytes.Buffer
	program.Stdout, program.Stderr = io.MultiWriter(&said, out), out
	if err := program.Run(); err != nil {
		return "", fmt.Errorf("a printed command: %w", err)
	}
	return said.String(), nil
}

// commands returns the indented commands at the end of the script's output.
func commands(printed string) ([]string, error) {
	at := address.FindStringIndex(printed)
	if at == nil {
		return nil, errors.New("the script does not print where Docent is")
	}
	var lines []string
	for _, m := range command.FindAllStringSubmatch(printed[at[0]:], -1) {
		lines = append(lines, m[1])
	}
	if len(lines) == 0 || !strings.HasPrefix(lines[0], "curl ") {
		return nil, errors.New("the script prints no first request")
	}
	return lines, nil
}

// links creates a collection at the printed URL and follows the Location of the reply, and the link to the next
// page of a list: both must lead to the same LocalStack.
func links(ctx context.Context, printed string, out io.Writer) error {
	at, key := address.FindStringSubmatch(printed), secret.FindString(printed)
	if at == nil || key == "" {
		return errors.New("the script does not print an address and a key")
	}
	made, _, err := send(ctx, http.MethodPost, at[1]+"/collections", key, `{"name":"linked","description":"A second one."}`, http.StatusCreated)
	if err != nil {
		return err
	}
	location := made.Get("Location")
	_, body, err := send(ctx, http.MethodGet, location, key, "", http.StatusOK)
	if err != nil {
		return fmt.Errorf("follow Location: %w", err)
	}
	var c struct{ Name string }
	if err := json.Unmarshal(body, &c); err != nil || c.Name != "linked" {
		return fmt.Errorf("follow Location: %s is %.200s, %w", location, body, err)
	}
	page, _, err := send(ctx, http.MethodGet, at[1]+"/collections?limit=1", key, "", http.StatusOK)
	if err != nil {
		return err
	}
	next, _, _ := strings.Cut(strings.TrimPrefix(page.Get("Link"), "<"), ">")
	if _, _, err := send(ctx, http.MethodGet, next, key, "", http.StatusOK); err != nil {
		return fmt.Errorf("follow the link to the next page: %w", err)
	}
	fmt.Fprintf(out, "\nLinks lead to LocalStack: Location %s\n  next page %s\n", location, next)
	return nil
}

// send sends one request, whose reply must have the given status.
func send(ctx context.Context, method, url, key, body string, status int) (http.Header, []byte, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode != status {
		err = fmt.Errorf("%s %s: %d %.200s", method, url, response.StatusCode, text)
	}
	return response.Header, text, err
}
