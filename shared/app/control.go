package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"docent/shared/blob/dir"
	"docent/shared/pending"
)

// controlSocket is a socket in the data directory, by which commands reach the server that
// has the data open. Whoever can write to the directory may do everything anyway.
const controlSocket = "control.sock"

// longestAddress is how many bytes the address of a socket may have on every system. Linux takes 107.
const longestAddress = 103

// socketIn returns the path of the socket in a data directory. If that is too long for an address, the path goes through the open directory
// under /proc/self/fd, which Linux has. It is valid until done is called.
func socketIn(folder string) (path string, done func()) {
	path, done = filepath.Join(folder, controlSocket), func() {}
	if len(path) <= longestAddress {
		return path, done
	}
	opened, err := os.Open(folder)
	if err != nil {
		return path, done
	}
	through := "/proc/self/fd/" + strconv.FormatUint(uint64(opened.Fd()), 10)
	if info, err := os.Stat(through); err != nil || !info.IsDir() {
		_ = opened.Close() // nothing was read
		return path, done
	}
	return through + "/" + controlSocket, func() { _ = opened.Close() }
}

// chunkTimeout bounds each write of a backup to its reader. A reader that stops would keep
// the snapshot, and the pages that it needs, for ever.
const chunkTimeout = time.Minute

// control serves commands on the socket until ctx ends.
func (l *Local) control(ctx context.Context, log *slog.Logger) {
	path, done := socketIn(l.folder)
	defer done()
	_ = os.Remove(path) // of a killed server: this process holds the data
	listener, err := new(net.ListenConfig).Listen(ctx, "unix", path)
	if err == nil {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		log.WarnContext(ctx, "docent backup and docent import cannot reach this server, and need it stopped", "err", err)
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /backup", func(w http.ResponseWriter, r *http.Request) { l.sendBackup(w, r, log) })
	mux.HandleFunc("GET /database", func(w http.ResponseWriter, r *http.Request) { l.sendDatabase(w, r, log) })
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn)}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })() // a backup in progress breaks off, and its reader knows
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		log.WarnContext(ctx, "commands cannot reach this server any more", "err", err)
	}
}

func (l *Local) sendBackup(w http.ResponseWriter, r *http.Request, log *slog.Logger) {
	begun := l.now()
	out := &timedWriter{w: w, control: http.NewResponseController(w)}
	err := l.Backup(r.Context(), out)
	switch {
	case err == nil:
		log.InfoContext(r.Context(), "backup written", "bytes", out.written, "took", l.now().Sub(begun))
		return
	case out.written == 0 && errors.Is(err, dir.ErrHeld):
		http.Error(w, "another backup is in progress", http.StatusConflict)
		return
	}
	logBroken(r.Context(), log, "backup failed", err)
	panic(http.ErrAbortHandler) // the reader sees that the end is missing
}

// sendDatabase sends a copy of the database. Its reader knows the size, so that a part is never
// taken for the whole.
func (l *Local) sendDatabase(w http.ResponseWriter, r *http.Request, log *slog.Logger) {
	err := l.store.Snapshot(r.Context(), func(size int64, database io.WriterTo) error {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		_, err := database.WriteTo(&timedWriter{w: w, control: http.NewResponseController(w)})
		return err
	})
	if err != nil {
		logBroken(r.Context(), log, "the database was not copied", err)
		panic(http.ErrAbortHandler)
	}
}

// logBroken logs why a command did not get all. It is not an error that it or this server was stopped.
func logBroken(ctx context.Context, log *slog.Logger, message string, err error) {
	level := slog.LevelError
	if pending.Interrupted(ctx, err) {
		level = slog.LevelInfo
	}
	log.Log(ctx, level, message, "err", err)
}

// timedWriter bounds the time of each write.
type timedWriter struct {
	w       io.Writer
	control *http.ResponseController
	written int64
}

// Write implements io.Writer.
func (t *timedWriter) Write(p []byte) (int, error) {
	if err := t.control.SetWriteDeadline(time.Now().Add(chunkTimeout)); err != nil {
		return 0, err
	}
	n, err := t.w.Write(p)
	t.written += int64(n)
	return n, err
}

// errNotRunning means that no server has the data directory open.
var errNotRunning = errors.New("no server runs on this data")

// askServer gives do the reply of the server that has dataDir open. It returns errNotRunning
// if there is none.
func askServer(ctx context.Context, dataDir, path string, do func(io.Reader) error) error {
	socket, done := socketIn(dataDir)
	defer done()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docent"+path, http.NoBody)
	if err != nil {
		return err
	}
	reply, err := client.Do(request)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.EINVAL):
		return errNotRunning
	case err != nil:
		return fmt.Errorf("ask the server: %w", err)
	}
	defer func() { _ = reply.Body.Close() }() // it is read to its end, or of no use
	if reply.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(reply.Body, 1024)) // part of an error
		return fmt.Errorf("the server replied %d: %s", reply.StatusCode, bytes.TrimSpace(text))
	}
	return do(reply.Body)
}

// BackupData writes a backup of the data directory dataDir to w, and checks it on the way. A
// server may run on the data: then it makes the backup.
func BackupData(ctx context.Context, dataDir string, w io.Writer) (report BackupReport, err error) {
	to := &backupSink{Writer: w}
	check := func(r io.Reader) (err error) {
		report, err = ReadBackup(io.TeeReader(r, to), func(string, int64, io.Reader) error { return nil })
		if to.err != nil { // a full disk damages no backup
			return fmt.Errorf("write the backup: %w", to.err)
		}
		return err
	}
	err = askServer(ctx, dataDir, "/backup", check)
	if !errors.Is(err, errNotRunning) {
		return report, err
	}
	l, err := OpenLocal(ctx, dataDir, LocalOptions{})
	if err != nil {
		return report, err
	}
	reader, writer := io.Pipe()
	go func() { writer.CloseWithError(l.Backup(ctx, writer)) }()
	err = check(reader)
	_ = reader.CloseWithError(err) // ends the goroutine, if it has not ended
	return report, errors.Join(err, l.Close())
}

// backupSink is where a backup is written. It keeps the error of a write, which readers of what is written take for one of the backup.
type backupSink struct {
	io.Writer
	err error
}

func (s *backupSink) Write(p []byte) (n int, err error) {
	n, err = s.Writer.Write(p)
	if err != nil {
		s.err = err
	}
	return n, err
}
