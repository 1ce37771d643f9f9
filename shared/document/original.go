package document

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"docent/shared/apierr"
	"docent/shared/extract"
	"docent/shared/memory"
	"docent/shared/pending"
	"docent/shared/table"
)

// Original is the file that a document was made from.
type Original struct {
	Blob  string // name of the object that keeps it
	Bytes int64
	Hash  string // SHA-256, in unpadded base64
}

// The stored fields of an original. Documents that were put as text have none.
const (
	originalField = "original"
	hashField     = "originalHash"
	sizeField     = "originalBytes"
	mediaField    = "mediaType"
)

// originals is the start of the names of all original files.
const originals = "originals/"

// originalName returns the name of the object of the file that version was put with. Like a version, it is never
// used twice.
func originalName(teamID, id string, version int64) string {
	return fmt.Sprintf("%s%s/%s/%016x", originals, teamID, id, version)
}

// checkFile returns a field error unless in is text, or a file of a kind that is read.
func (in Input) checkFile() error {
	switch {
	case in.KeepContent:
		return nil
	case in.Upload != "":
		return in.checkUpload()
	case in.MediaType != "" && !extract.Supported(in.MediaType):
		return apierr.BadField("/mediaType", "must be the media type of a %s file; leave it out for text", extract.Names)
	case in.MediaType != "" && len(in.File) == 0:
		return apierr.BadField("/body", "must be the file, in base64")
	case int64(len(in.File)) > extract.MaxSize(in.MediaType):
		return badSize("/body", in.MediaType)
	case !bytes.HasPrefix(in.File, extract.Signature(in.MediaType)):
		return apierr.BadField("/body", "must be a file of the media type")
	}
	return nil
}

// badSize returns the error for a file that is larger than what is read of its media type.
func badSize(field, mediaType string) error {
	most := extract.MaxSize(mediaType)
	return apierr.BadField(field, "must be at most %d bytes (%d MB) for %s, because larger files of this type are not read", most, most>>20, mediaType)
}

// SHA256 returns Hash in hexadecimal digits.
func (o *Original) SHA256() string {
	sum, err := base64.RawStdEncoding.DecodeString(o.Hash)
	if err != nil {
		return "" // it was stored by encodeHash
	}
	return hex.EncodeToString(sum)
}

// same reports whether o and p are the same file, wherever it is kept.
func (o *Original) same(p *Original) bool {
	if o == nil || p == nil {
		return o == p
	}
	return o.Bytes == p.Bytes && o.Hash == p.Hash
}

func (o *Original) store(item table.Item) {
	if o != nil {
		item.Strings[originalField], item.Strings[hashField], item.Numbers[sizeField] = o.Blob, o.Hash, o.Bytes
	}
}

func originalFrom(item table.Item) *Original {
	name, ok := item.Strings[originalField]
	if !ok {
		return nil
	}
	return &Original{Blob: name, Bytes: item.Numbers[sizeField], Hash: item.Strings[hashField]}
}

// putOriginal keeps the file of r before a record refers to it. Like putChunks it first stores an intent that removes
// it if this version never becomes current.
func (s *Service) putOriginal(ctx context.Context, teamID string, r record, file []byte) (*pending.Work, error) {
	if len(file) > longBody {
		if err := memory.WaitWrites(ctx); err != nil {
			return nil, err
		}
	}
	intent := &pending.Work{Kind: pending.RemoveChunks, TeamID: teamID, ID: r.ID, Version: r.version,
		Old: &pending.Version{Version: r.version, Original: r.Original.Blob}, At: millisOf(r.version)}
	if err := s.Table.Write(ctx, intent.Promise()); err != nil {
		return nil, fmt.Errorf("store the intent to keep a file: %w", err)
	}
	if err := s.Blobs.Put(ctx, r.Original.Blob, file); err != nil {
		return nil, fmt.Errorf("keep the file: %w", err)
	}
	return intent, nil
}

// deleteOriginal removes the file of old, if it has one.
func (s *Service) deleteOriginal(ctx context.Context, old pending.Version) error {
	if old.Original == "" {
		return nil
	}
	if err := s.Blobs.Delete(ctx, old.Original); err != nil {
		return fmt.Errorf("remove a file: %w", err)
	}
	return nil
}
