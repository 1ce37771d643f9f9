package document

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"docent/shared/apierr"
	"docent/shared/blob"
	"docent/shared/extract"
	"docent/shared/pending"
	"docent/shared/table"
)

// Bounds of uploads.
const (
	MaxUploadBytes = 100 << 20
	MaxUploads     = 20               // of a team that are not used yet
	UploadTime     = 15 * time.Minute // in which sending the file must begin
	// UploadLife is the time in which an upload must be used. It is longer than the slowest upload that is accepted.
	UploadLife = time.Hour
)

// Upload is a place for one file, which a document then takes over.
type Upload struct {
	ID        string    `json:"id"`
	MediaType string    `json:"mediaType"`
	Size      int64     `json:"size"`             // exact, in bytes
	SHA256    []byte    `json:"sha256,omitempty"` // of the file; nil: not known
	Secret    []byte    `json:"secret"`           // SHA-256 of the secret in the address
	Due       int64     `json:"due"`              // Unix milliseconds at which its file is removed if no document has it
	ExpiresAt time.Time `json:"expiresAt"`        // until then sending the file may begin
}

func (u Upload) item(key table.Key) (table.Item, error) {
	body, err := json.Marshal(u) //nolint:gosec // of the secret it has the hash
	if err != nil {
		return table.Item{}, fmt.Errorf("encode an upload: %w", err)
	}
	return table.Item{Key: key, Body: body, Strings: map[string]string{"id": u.ID}}, nil
}

func uploadFrom(item table.Item) (u Upload, err error) {
	if err := json.Unmarshal(item.Body, &u); err != nil {
		return u, fmt.Errorf("decode an upload: %w", err)
	}
	return u, nil
}

// NewUpload stores a new upload of a file and returns it with the secret of its address. Of concurrent calls, no more
// succeed than leave MaxUploads. An upload that is not used within UploadLife is removed, with its file.
func (s *Service) NewUpload(ctx context.Context, teamID, mediaType string, size int64, digest []byte) (u Upload, secret string, err error) {
	switch {
	case !extract.Supported(mediaType):
		return u, "", apierr.BadField("/mediaType", "must be the media type of a %s file", extract.Names)
	case size < 1 || size > MaxUploadBytes:
		return u, "", apierr.BadField("/size", "must be 1 to %d bytes", MaxUploadBytes)
	case size > extract.MaxSize(mediaType):
		return u, "", badSize("/size", mediaType)
	case digest != nil && len(digest) != sha256.Size:
		return u, "", apierr.BadField("/sha256", "must be a SHA-256 digest of 32 bytes, in hexadecimal digits")
	}
	now := s.Now().UTC().Truncate(time.Millisecond)
	secret = rand.Text() + rand.Text()
	u = Upload{ID: s.NewID(), MediaType: mediaType, Size: size, SHA256: digest, Secret: hashOfSecret(secret),
		Due: now.Add(UploadLife).UnixMilli(), ExpiresAt: now.Add(UploadTime)}
	for {
		key, err := s.freePlace(ctx, teamID)
		if err != nil {
			return u, "", err
		}
		item, err := u.item(key)
		if err != nil {
			return u, "", err
		}
		item.Expires = now.Add(UploadLife)
		err = s.Table.Write(ctx, table.Put{If: table.Absent(), Item: item}, u.removal(teamID).Promise())
		if table.AsConditionFailed(err) != nil {
			continue // another upload was first
		}
		if err != nil {
			return u, "", fmt.Errorf("store an upload: %w", err)
		}
		return u, secret, nil
	}
}

// freePlace returns the key of a place that no upload of the team has.
func (s *Service) freePlace(ctx context.Context, teamID string) (table.Key, error) {
	taken := map[string]bool{}
	for item, err := range table.All(ctx, s.Table, openUploads(teamID)) {
		if d := table.AsDamaged(err); d != nil { // until they expire
			for _, k := range d.Keys {
				taken[k.Sort] = true
			}
			continue
		}
		if err != nil {
			return table.Key{}, fmt.Errorf("list uploads: %w", err)
		}
		taken[item.Sort] = true
	}
	for n := range MaxUploads {
		if !taken[place(n)] {
			return table.Key{Table: table.Documents, Partition: uploadsOf(teamID), Sort: place(n)}, nil
		}
	}
	return table.Key{}, apierr.New(apierr.Conflict, apierr.CodeUploadLimit,
		"This team has %d uploads that no document uses yet. Use them, or wait until one is removed, which takes at most an hour.", MaxUploads)
}

// FindUpload returns the upload with the id if the secret belongs to its address and it has not expired, and not-found
// otherwise.
func (s *Service) FindUpload(ctx context.Context, teamID, id, secret string) (Upload, error) {
	missing := apierr.New(apierr.NotFound, apierr.CodeNotFound, "This address is wrong, has expired, or its file is in use. Ask for another upload.")
	if !isID(teamID) || !isID(id) {
		return Upload{}, missing
	}
	u, key, err := s.upload(ctx, teamID, id)
	if err != nil {
		return Upload{}, err
	}
	if subtle.ConstantTimeCompare(hashOfSecret(secret), u.Secret) != 1 || key.Table == "" || !s.Now().Before(u.ExpiresAt) {
		return Upload{}, missing
	}
	return u, nil
}

// upload returns an upload that no document uses, with its key; the key is empty if there is none. One that is damaged is as if
// there were none: its client asks for another one.
func (s *Service) upload(ctx context.Context, teamID, id string) (u Upload, key table.Key, err error) {
	for item, err := range table.All(ctx, s.undamaged(), openUploads(teamID)) {
		if err != nil {
			return u, key, fmt.Errorf("list uploads: %w", err)
		}
		if item.Strings["id"] == id {
			u, err = uploadFrom(item)
			return u, item.Key, err
		}
	}
	return u, key, nil
}

func uploadsOf(teamID string) string { return teamID + "/uploads" }

// openUploads selects the uploads of a team that no document uses.
func openUploads(teamID string) table.Query {
	return table.Query{Table: table.Documents, Partition: uploadsOf(teamID), From: place(0), To: place(MaxUploads - 1)}
}

// place returns the sort key of a place of a team's open uploads.
func place(n int) string { return fmt.Sprintf("%02d", n) }

// UploadBlob returns the name of the object of an upload, which the document that uses it keeps.
func UploadBlob(teamID, id string) string { return originals + teamID + "/uploads/" + id }

// removal returns the work of removing the file of u. It is pending until a document uses u.
func (u Upload) removal(teamID string) pending.Work {
	return pending.Work{Kind: pending.RemoveChunks, TeamID: teamID, ID: u.ID, Old: &pending.Version{Original: UploadBlob(teamID, u.ID)}, At: u.Due}
}

func hashOfSecret(secret string) []byte {
	sum := sha256.Sum256([]byte(secret))
	return sum[:]
}

func badUpload() *apierr.Error {
	return apierr.BadField("/upload", "must be an upload of this team that has not expired and that no other put used")
}

// uploaded is a file that was uploaded.
type uploaded struct {
	Upload
	key      table.Key
	original Original
}

// checkUpload returns a field error if in has more content than an upload.
func (in Input) checkUpload() error {
	if in.Body != "" || len(in.File) > 0 {
		return apierr.BadField("/upload", "must not be combined with body")
	}
	return nil
}

// offered returns the upload with the id that no document uses; nil: there is none.
func (s *Service) offered(ctx context.Context, teamID, id string) (*uploaded, error) {
	if !isID(id) {
		return nil, nil //nolint:nilnil // as said
	}
	u, key, err := s.upload(ctx, teamID, id)
	if err != nil || key.Table == "" {
		return nil, err
	}
	return &uploaded{Upload: u, key: key}, nil
}

// takeUpload sets the file of in to that of its upload u. If u is nil and old has the file already, in keeps it.
func (s *Service) takeUpload(ctx context.Context, teamID string, in *Input, u *uploaded, old current) error {
	if in.Upload == "" {
		return nil
	}
	name := UploadBlob(teamID, in.Upload)
	if u == nil {
		has, err := s.hasUpload(ctx, teamID, in.Upload, old)
		if err != nil {
			return err
		}
		if !has {
			return badUpload()
		}
		u = &uploaded{Upload: Upload{MediaType: old.MediaType}}
	}
	if in.MediaType != "" && in.MediaType != u.MediaType {
		return apierr.BadField("/mediaType", "must be that of the upload")
	}
	in.MediaType = u.MediaType
	if u.key.Table == "" {
		in.KeepContent = true // the client repeats its request, maybe with other fields
		return nil
	}
	hash, err := s.checkObject(ctx, name, u.Upload)
	if apierr.IsCode(err, apierr.CodeUploadIncomplete) {
		if now, failed := s.offered(ctx, teamID, in.Upload); failed == nil && now == nil {
			return errRaced // another put has used it since
		}
	}
	if err != nil {
		return err
	}
	u.original, in.uploaded = Original{Blob: name, Bytes: u.Size, Hash: hash}, u
	return nil
}

// hasUpload reports whether old has the file of an upload that no longer exists. Either old took the file over, or it already
// had the same file when the upload was put.
func (s *Service) hasUpload(ctx context.Context, teamID, id string, old current) (bool, error) {
	if !isID(id) || !old.exists || old.Original == nil {
		return false, nil
	}
	if old.Original.Blob == UploadBlob(teamID, id) {
		return true, nil
	}
	item, err := s.Table.Get(ctx, droppedKey(teamID, id))
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read a dropped upload: %w", err)
	}
	u, err := uploadFrom(item)
	return u.ID == id && encodeHash(u.SHA256) == old.Original.Hash, err
}

// droppedKey returns the key under which an upload that a put did not need is remembered until it is due, so that the
// client may repeat the put. freePlace never returns this place.
func droppedKey(teamID, id string) table.Key {
	sum := sha256.Sum256([]byte(id))
	return table.Key{Table: table.Documents, Partition: uploadsOf(teamID), Sort: fmt.Sprintf("9%020d", binary.BigEndian.Uint64(sum[:]))}
}

// dropped returns the item that remembers u. It has no string "id", so that no release takes it for an upload.
func (u *uploaded) dropped(teamID string) (table.Item, error) {
	sum, err := base64.RawStdEncoding.DecodeString(u.original.Hash)
	if err != nil {
		return table.Item{}, fmt.Errorf("hash of an upload: %w", err)
	}
	was := u.Upload
	was.SHA256 = sum
	item, err := was.item(droppedKey(teamID, u.ID))
	item.Strings, item.Expires = nil, time.UnixMilli(u.Due)
	return item, err
}

// checkObject returns the hash of the file of u. It returns an error for the client if the file was not sent, or is
// not what was said.
func (s *Service) checkObject(ctx context.Context, name string, u Upload) (hash string, err error) {
	first, err := s.Blobs.GetRange(ctx, name, 0, min(u.Size, blockBytes))
	switch {
	case errors.Is(err, blob.ErrNotFound):
		return "", apierr.New(apierr.Conflict, apierr.CodeUploadIncomplete, "The file of this upload was not sent yet, or not completely. Send it to the uploadUrl of the upload, and then put the document again.")
	case errors.Is(err, blob.ErrInvalid):
		return "", apierr.BadField("/upload", "must have a file of the size that was stated")
	case err != nil:
		return "", fmt.Errorf("read an upload: %w", err)
	}
	if _, err := s.Blobs.GetRange(ctx, name, u.Size, 1); !errors.Is(err, blob.ErrInvalid) {
		if err != nil {
			return "", fmt.Errorf("read an upload: %w", err)
		}
		return "", apierr.BadField("/upload", "must have a file of the size that was stated")
	}
	if !bytes.HasPrefix(first, extract.Signature(u.MediaType)) {
		return "", apierr.BadField("/upload", "must have a file of the media type")
	}
	if u.SHA256 != nil { // who stored the object has compared it
		return encodeHash(u.SHA256), nil
	}
	sum := sha256.New()
	sum.Write(first)
	for at := int64(len(first)); at < u.Size; at += blockBytes {
		block, err := s.Blobs.GetRange(ctx, name, at, min(blockBytes, u.Size-at))
		if errors.Is(err, blob.ErrInvalid) {
			return "", apierr.BadField("/upload", "must have a file of the size that was stated")
		}
		if err != nil {
			return "", fmt.Errorf("read an upload: %w", err)
		}
		sum.Write(block)
	}
	return encodeHash(sum.Sum(nil)), nil
}

// use returns the operations that make the file of u that of a document. They fail if another put was first, or if
// the file is being removed.
func (u *uploaded) use(teamID string) []table.Op {
	return []table.Op{table.Delete{Key: u.key, If: table.Is("id", u.ID)}, u.removal(teamID).Complete()}
}

// refusal returns the error of a put for err of its Write with the operations of use or dropUpload; nil: err is not about
// the upload.
func (u *uploaded) refusal(teamID string, err error) error {
	failed := table.AsConditionFailed(err)
	switch {
	case u == nil || failed == nil:
		return nil
	case failed.Key == u.key:
		return errRaced // another put used it, maybe for the same document
	case failed.Key == u.removal(teamID).Key():
		return badUpload() // its file is being removed
	default:
		return nil
	}
}

// dropUpload removes an upload that a put did not need, and remembers it until it is due.
func (s *Service) dropUpload(ctx context.Context, teamID string, u *uploaded) error {
	if u == nil {
		return nil
	}
	now := u.removal(teamID)
	now.At = s.Now().UnixMilli()
	// The removal when it is due stays, because another file may be sent to the address until it expires.
	dropped, err := u.dropped(teamID)
	if err != nil {
		return err
	}
	err = s.Table.Write(ctx, table.Delete{Key: u.key, If: table.Is("id", u.ID)}, table.Check{Key: u.removal(teamID).Key(), If: table.Exists()}, now.Promise(), table.Put{Item: dropped})
	if refused := u.refusal(teamID, err); refused != nil {
		return refused
	}
	if err != nil {
		return fmt.Errorf("remove an upload: %w", err)
	}
	s.send(ctx, now)
	return nil
}
