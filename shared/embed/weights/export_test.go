package weights

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
)

// The bounds that tests reach.
const (
	ReplyTime      = replyTime
	AbandonedAfter = abandonedAfter
)

// Release is a small one for tests, whose archive is Jar at the path Path.
type Release struct {
	release
	Jar  []byte
	Path string
}

// NewRelease makes a release of which the files with these contents are kept.
func NewRelease(tokenizer, model []byte) (Release, error) {
	describe := func(name, source string, content []byte) file {
		sum := sha256.Sum256(content)
		return file{name, source, int64(len(content)), hex.EncodeToString(sum[:])}
	}
	jar, err := Zip(map[string][]byte{"README": []byte("more"), "a-tokenizer.json": tokenizer, "a.onnx": model})
	if err != nil {
		return Release{}, err
	}
	r := release{archive: describe("", "group/artifact/1/artifact-1.jar", jar),
		files: []file{describe(TokenizerFile, "a-tokenizer.json", tokenizer), describe(ModelFile, "a.onnx", model)}}
	return Release{r, jar, "/" + r.archive.source}, nil
}

// Zip makes an archive, the same from the same files.
func Zip(files map[string][]byte) ([]byte, error) {
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(files[name]); err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return out.Bytes(), err
}

// Holding returns r with another archive, of which the repository says that it is right.
func (r Release) Holding(jar []byte) Release {
	sum := sha256.Sum256(jar)
	r.Jar, r.archive.size, r.archive.sha256 = jar, int64(len(jar)), hex.EncodeToString(sum[:])
	return r
}

// Fetch is the Fetch of this release.
func (r Release) Fetch(ctx context.Context, folder string, o Options) (bool, error) {
	return r.fetch(ctx, folder, o)
}

// Check is the Check of this release.
func (r Release) Check(folder string) error { return r.check(folder) }
