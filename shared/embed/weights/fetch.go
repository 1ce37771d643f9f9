package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// central is Maven Central, which Fetch asks if no other repository is named.
const central = "https://repo1.maven.org/maven2"

// Bounds of one Fetch.
const (
	dialTime  = 10 * time.Second
	replyTime = 30 * time.Second // until the reply begins, and between two reads of it
	maxTime   = 10 * time.Minute
)

// unfinished is the pattern of the names of files that are being written. Those older than abandonedAfter are left by
// a process that was killed.
const (
	unfinished     = ".unfinished-*"
	abandonedAfter = time.Hour
)

// Options change a Fetch. The zero value fetches from Maven Central.
type Options struct {
	Repository string            // http or https URL of a Maven repository, such as a mirror of Maven Central; it may have a user and password
	Transport  http.RoundTripper // nil: one that honours HTTPS_PROXY, HTTP_PROXY and NO_PROXY
	Near       string            // a folder that may have the weights, which are then copied; empty: none
}

// Fetch makes sure that the folder has the weights: it does nothing if they are there and whole. Otherwise it copies
// them from a folder near by, or downloads 16 MB, and writes 24 MB; each file appears whole or not at all, whatever interrupts it. It reports whether
// it downloaded. The error names no password.
func Fetch(ctx context.Context, folder string, o Options) (downloaded bool, err error) {
	return minilm.fetch(ctx, folder, o)
}

func (r release) fetch(ctx context.Context, folder string, o Options) (downloaded bool, err error) {
	check := r.check(folder)
	if check == nil || !errors.Is(check, ErrMissing) && !errors.Is(check, ErrDamaged) {
		return false, check
	}
	if o.Near != "" && r.check(o.Near) == nil {
		if err := r.copyFrom(o.Near, folder); err != nil {
			return false, fmt.Errorf("copy the weights: %w", err)
		}
		return false, nil
	}
	if o.Repository == "" {
		o.Repository = central
	}
	at, err := url.Parse(o.Repository)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Host == "" || at.RawQuery != "" {
		return false, errors.New("the address of the Maven repository is not a plain http or https URL")
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTime}).DialContext,
			TLSHandshakeTimeout:   dialTime,
			ResponseHeaderTimeout: replyTime,
			DisableKeepAlives:     true,
			ForceAttemptHTTP2:     true,
		}
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	jar, err := r.archive.download(ctx, at, o.Transport)
	if err != nil {
		return false, fmt.Errorf("download from %s: %w", at.Host, err)
	}
	if err := r.unpack(jar, folder); err != nil {
		return false, fmt.Errorf("unpack the weights: %w", err)
	}
	return true, nil
}

// errSlow ends a download that makes no progress.
var errSlow = fmt.Errorf("no byte arrived for %s", replyTime)

// download returns the content of f in a repository, after it was checked.
func (f file) download(ctx context.Context, repository *url.URL, transport http.RoundTripper) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	progress := time.AfterFunc(replyTime, func() { cancel(errSlow) })
	defer progress.Stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, repository.JoinPath(f.source).String(), nil)
	if err != nil {
		return nil, errors.New("the address is malformed")
	}
	request.Header.Set("User-Agent", "Docent")
	reply, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		return nil, reason(ctx, err)
	}
	defer func() { _ = reply.Body.Close() }()
	if reply.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d", reply.StatusCode)
	}
	var body bytes.Buffer
	body.Grow(int(f.size) + bytes.MinRead)
	limited := io.LimitReader(reply.Body, f.size+1)
	if _, err := body.ReadFrom(readerFunc(func(p []byte) (int, error) {
		n, err := limited.Read(p)
		progress.Reset(replyTime)
		return n, err
	})); err != nil {
		return nil, reason(ctx, err)
	}
	if int64(body.Len()) > f.size {
		return nil, fmt.Errorf("the file is larger than %d bytes", f.size)
	}
	return body.Bytes(), f.matches(body.Bytes())
}

// reason returns why a request failed: the cause of the end of ctx, if it ended.
func reason(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	var failed *url.Error // has the URL, which is long
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return err
}

// readerFunc is an io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// unpack writes the files of the archive to the folder.
func (r release) unpack(jar []byte, folder string) error {
	z, err := zip.NewReader(bytes.NewReader(jar), int64(len(jar)))
	if err != nil {
		return err
	}
	if err := prepare(folder); err != nil {
		return err
	}
	for _, f := range r.files {
		content, err := f.read(z)
		if err != nil {
			return err
		}
		if err := write(filepath.Join(folder, f.name), content); err != nil {
			return err
		}
	}
	return nil
}

// copyFrom copies the files of a folder to another one.
func (r release) copyFrom(near, folder string) error {
	if err := prepare(folder); err != nil {
		return err
	}
	for _, f := range r.files {
		content, err := os.ReadFile(filepath.Join(near, f.name))
		if err == nil {
			err = f.matches(content)
		}
		if err != nil {
			return err
		}
		if err := write(filepath.Join(folder, f.name), content); err != nil {
			return err
		}
	}
	return nil
}

// prepare creates the folder, and removes what killed processes have left in it.
func prepare(folder string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // the weights are public
		return err
	}
	return removeAbandoned(folder)
}

// read returns the content of f in the archive, after it was checked.
func (f file) read(z *zip.Reader) ([]byte, error) {
	packed, err := z.Open(f.source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = packed.Close() }()
	content := make([]byte, 0, f.size+bytes.MinRead)
	buffer := bytes.NewBuffer(content)
	if _, err := buffer.ReadFrom(io.LimitReader(packed, f.size+1)); err != nil {
		return nil, err
	}
	return buffer.Bytes(), f.matches(buffer.Bytes())
}

// write writes the file at path, which appears with its whole content.
func write(path string, content []byte) (err error) {
	temporary, err := os.CreateTemp(filepath.Dir(path), unfinished)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	_, err = temporary.Write(content)
	if err == nil {
		err = temporary.Chmod(0o644)
	}
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

// removeAbandoned removes the unfinished files of processes that were killed.
func removeAbandoned(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), strings.TrimSuffix(unfinished, "*")) {
			continue
		}
		if info, err := e.Info(); err != nil || time.Since(info.ModTime()) < abandonedAfter {
			continue // another process renamed it, or is writing it
		}
		if err := os.Remove(filepath.Join(folder, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
