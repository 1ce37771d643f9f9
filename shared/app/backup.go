package app

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"docent/shared/blob"
	"docent/shared/blob/dir"
	"docent/shared/team"
)

// A backup is a tar archive: what it is, the files of a data directory, and at the end the
// digest of each entry, in the form that sha256sum checks.
const (
	backupAbout  = "docent-backup.json"
	backupSums   = "SHA256SUMS"
	backupFormat = 1
	databaseFile = "docent.db"
	keyFile      = "secrets.key"
	blobsFolder  = "blobs"
)

// backupHeader is the entry backupAbout. A reader refuses a later format.
type backupHeader struct {
	Format  int       `json:"format"`
	Created time.Time `json:"created"`
}

// BackupReport counts the contents of a backup.
type BackupReport struct {
	Created  time.Time `json:"created"`
	Database int64     `json:"databaseBytes"`
	Objects  int       `json:"objects"`
	Bytes    int64     `json:"bytes"` // of all files
	// Faults says which objects the backup lacks, at most maxFaults lines, because the data lacked them or they could not be read.
	Faults []string `json:"faults,omitempty"`
}

// Backup writes a backup of the data, with the key of its secrets. Everything that was
// acknowledged before the call is in it. Requests and work continue. What the data lacks, or
// what cannot be read, is listed in the backup, which has all the rest. It returns dir.ErrHeld
// if another backup is in progress.
func (l *Local) Backup(ctx context.Context, w io.Writer) (err error) {
	hold, err := l.objects.Hold()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Release()) }()
	out := backupWriter{archive: tar.NewWriter(w), created: l.now().UTC().Truncate(time.Second)}
	about, err := json.Marshal(backupHeader{backupFormat, out.created})
	if err != nil {
		return fmt.Errorf("encode the backup: %w", err)
	}
	if err := out.add(backupAbout, int64(len(about)), bytes.NewReader(about)); err != nil {
		return err
	}
	var names []string
	err = l.store.Snapshot(ctx, func(size int64, database io.WriterTo) error {
		// Every object that the snapshot names exists now, and the Hold keeps it.
		if names, err = hold.Names(ctx); err != nil {
			return err
		}
		return out.addFrom(databaseFile, size, database)
	})
	if err != nil {
		return err
	}
	key, err := os.ReadFile(filepath.Join(l.folder, keyFile))
	if err != nil {
		return fmt.Errorf("back up the key of secrets: %w", err)
	}
	if err := out.add(keyFile, int64(len(key)), bytes.NewReader(key)); err != nil {
		return err
	}
	for _, name := range names {
		if err := errors.Join(ctx.Err(), out.addObject(hold, name)); err != nil {
			return err
		}
	}
	if err := l.addLost(ctx, &out, names); err != nil {
		return err
	}
	if len(out.faults) > 0 {
		l.log.ErrorContext(ctx, "the backup lacks objects", "faults", len(out.faults), "first", out.faults[0])
	}
	return out.finish()
}

// addLost adds the objects that the records of each team name and that do not exist. That these cannot be read is a fault of the
// backup too: what is lost is not known then.
func (l *Local) addLost(ctx context.Context, out *backupWriter, names []string) error {
	ids, err := team.IDs(ctx, l.store)
	if err != nil {
		out.fault("the teams cannot be listed: %v", err)
	}
	kept := func(name string) bool {
		_, found := slices.BinarySearch(names, name)
		if !found { // of a record that was written since
			_, err := l.objects.GetRange(ctx, name, 0, 1)
			found = !errors.Is(err, blob.ErrNotFound)
		}
		return found
	}
	for _, id := range ids {
		files, err := l.documents.LostFiles(ctx, id, kept)
		segments, failed := l.index.LostBlobs(ctx, id, kept)
		for _, name := range slices.Concat(files, segments) {
			out.fault("%s is missing", name)
		}
		if err := errors.Join(err, failed); err != nil {
			out.fault("not all objects of team %s are known: %v", id, err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of what a backup lists as lacking. The list is in a header of the archive, which may have 1 MiB.
const (
	maxFaults     = 1000
	maxFaultBytes = 500
)

// andMore is the last fault of a list that has too few.
const andMore = "and more"

// faultsRecord is the name of the list in the header of backupSums, which earlier versions pass over.
const faultsRecord = "DOCENT.faults"

// backupWriter writes a backup.
type backupWriter struct {
	archive *tar.Writer
	created time.Time
	sums    bytes.Buffer
	faults  []string
}

// fault notes something that the backup lacks.
func (b *backupWriter) fault(format string, args ...any) {
	if len(b.faults) == maxFaults {
		b.faults[maxFaults-1] = andMore
		return
	}
	text := strings.Join(strings.FieldsFunc(fmt.Sprintf(format, args...), unicode.IsControl), " ")
	b.faults = append(b.faults, strings.ToValidUTF8(text[:min(len(text), maxFaultBytes)], ""))
}

// addObject adds an object. If its file ends early, or cannot be read to its end, zeros take the place of the rest.
func (b *backupWriter) addObject(hold *dir.Hold, name string) error {
	file, size, err := hold.Open(name)
	if err != nil {
		b.fault("%v", err)
		return nil
	}
	content := &readable{Reader: file, left: size}
	err = b.add(blobsFolder+"/"+name, size, content)
	if content.err != nil {
		b.fault("read object %s: %v", name, content.err)
	}
	return errors.Join(err, file.Close())
}

// readable reads left bytes of Reader: zeros from its end, or from its first error, on.
type readable struct {
	io.Reader
	left int64
	err  error
}

// Read implements io.Reader.
func (r *readable) Read(p []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.left)]
	if r.err == nil {
		n, r.err = r.Reader.Read(p)
		if n > 0 && errors.Is(r.err, io.EOF) {
			r.err = nil // the next call returns it again, if anything is to come
		}
	}
	if r.err != nil {
		clear(p[n:])
		n = len(p)
	}
	r.left -= int64(n)
	return n, nil
}

func (b *backupWriter) add(name string, size int64, content io.Reader) error {
	return b.addFrom(name, size, copied{content})
}

// copied is a reader as the source of a copy.
type copied struct{ io.Reader }

func (c copied) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, c.Reader) }

func (b *backupWriter) addFrom(name string, size int64, content io.WriterTo) error {
	header := &tar.Header{Name: name, Mode: 0o600, Size: size, ModTime: b.created, Format: tar.FormatPAX}
	if name == backupSums && len(b.faults) > 0 {
		header.PAXRecords = map[string]string{faultsRecord: strings.Join(b.faults, "\n")}
	}
	if err := b.archive.WriteHeader(header); err != nil {
		return fmt.Errorf("back up %s: %w", name, err)
	}
	digest := sha256.New()
	if _, err := content.WriteTo(io.MultiWriter(b.archive, digest)); err != nil {
		return fmt.Errorf("back up %s: %w", name, err)
	}
	fmt.Fprintf(&b.sums, "%x  %s\n", digest.Sum(nil), name)
	return nil
}

// finish writes the digests. Without them a backup is incomplete.
func (b *backupWriter) finish() error {
	sums := b.sums.Bytes()
	if err := b.addFrom(backupSums, int64(len(sums)), bytes.NewReader(sums)); err != nil {
		return err
	}
	if err := b.archive.Close(); err != nil {
		return fmt.Errorf("end the backup: %w", err)
	}
	return nil
}

// maxSums bounds the list of digests, which is kept in memory.
const maxSums = 256 << 20

var (
	errBackupIncomplete = errors.New("the backup is incomplete or damaged")
	errNoBackup         = errors.New("this is not a backup of Docent")
)

// ReadBackup reads a backup to its end, gives each file to take, and checks all digests. What
// take got may be used only if ReadBackup returns nil.
func ReadBackup(r io.Reader, take func(name string, size int64, content io.Reader) error) (BackupReport, error) {
	report, found, sums := BackupReport{}, map[string]string{}, []byte(nil)
	for archive := tar.NewReader(r); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if errors.Is(err, tar.ErrHeader) && len(found) == 0 {
			return report, errNoBackup
		}
		if err != nil {
			return report, fmt.Errorf("%w: %w", errBackupIncomplete, err)
		}
		name := header.Name
		switch _, twice := found[name]; {
		case twice || sums != nil || header.Typeflag != tar.TypeReg:
			return report, fmt.Errorf("%w: entry %q", errBackupIncomplete, name)
		case len(found) == 0 && name != backupAbout:
			return report, errNoBackup
		case name == backupSums:
			if list := header.PAXRecords[faultsRecord]; list != "" {
				report.Faults = strings.Split(list, "\n")
			}
			if sums, err = io.ReadAll(io.LimitReader(archive, maxSums)); err != nil {
				return report, fmt.Errorf("%w: %w", errBackupIncomplete, err)
			}
			continue
		}
		digest := sha256.New()
		content := io.TeeReader(archive, digest)
		if name == backupAbout {
			report.Created, err = readBackupHeader(content)
		} else {
			err = take(name, header.Size, content)
			report.count(name, header.Size)
		}
		if err != nil {
			return report, err
		}
		if _, err := io.Copy(io.Discard, content); err != nil { // what take did not read
			return report, fmt.Errorf("%w: %w", errBackupIncomplete, err)
		}
		found[name] = hex.EncodeToString(digest.Sum(nil))
	}
	// Padding after the archive's end is read too, so that a writer of r is never cut off.
	if _, err := io.Copy(io.Discard, r); err != nil {
		return report, fmt.Errorf("%w: %w", errBackupIncomplete, err)
	}
	return report, checkSums(found, sums)
}

func (r *BackupReport) count(name string, size int64) {
	r.Bytes += size
	switch {
	case name == databaseFile:
		r.Database = size
	case strings.HasPrefix(name, blobsFolder+"/"):
		r.Objects++
	}
}

func readBackupHeader(r io.Reader) (time.Time, error) {
	var h backupHeader
	if err := json.NewDecoder(io.LimitReader(r, 4096)).Decode(&h); err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", errBackupIncomplete, err)
	}
	if h.Format != backupFormat {
		return time.Time{}, fmt.Errorf("the backup has format %d; this version of Docent reads %d", h.Format, backupFormat)
	}
	return h.Created, nil
}

// checkSums compares the digests that were found with the list of the backup.
func checkSums(found map[string]string, sums []byte) error {
	listed := 0
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if found[name] != sum {
			return fmt.Errorf("%w: %q is missing or has another digest", errBackupIncomplete, name)
		}
		listed++
	}
	required := []string{backupAbout, databaseFile, keyFile}
	if listed != len(found) || slices.ContainsFunc(required, func(name string) bool { return found[name] == "" }) {
		return errBackupIncomplete
	}
	return nil
}
