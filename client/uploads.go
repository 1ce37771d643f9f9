package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// MaxUpload is the maximum size in bytes of a file that is uploaded (100 MB).
const MaxUpload = 100 << 20

// uploadTime bounds sending one file, at the least rate that a server accepts.
const uploadTime = 30 * time.Minute

// Upload sends a PDF, Office or reStructuredText file of size bytes, and returns the id of the upload for Document.Upload.
// It reads the file more than once.
func (c *Client) Upload(ctx context.Context, mediaType string, file io.ReaderAt, size int64) (id string, err error) {
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, size)); err != nil {
		return "", fmt.Errorf("read the file: %w", err)
	}
	body, err := marshal(map[string]any{"mediaType": mediaType, "size": size, "sha256": hex.EncodeToString(sum.Sum(nil))})
	if err != nil {
		return "", err
	}
	r, err := c.do(ctx, call{method: http.MethodPost, path: "/uploads", body: body})
	if err != nil {
		return "", err
	}
	var to struct {
		ID, UploadURL, Method string
		Headers               map[string]string
	}
	if err := decode(r, &to); err != nil {
		return "", err
	}
	for try := 1; ; try++ {
		err := c.send(ctx, to.Method, to.UploadURL, to.Headers, io.NewSectionReader(file, 0, size))
		if err == nil {
			return to.ID, nil
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		var refused *Error
		if errors.As(err, &refused) && try > 1 && (refused.Status == http.StatusConflict || refused.Status == http.StatusPreconditionFailed) {
			return to.ID, nil // an earlier try arrived, but its reply did not; its checksum was compared
		}
		wait, again := backOff(err, try)
		if !again || try == tries {
			return "", fmt.Errorf("send the file: %w", c.explain(err))
		}
		if err := c.Pause(ctx, wait); err != nil {
			return "", err
		}
	}
}

// send sends a file to an address, without the key.
func (c *Client) send(ctx context.Context, method, address string, headers map[string]string, file *io.SectionReader) error {
	ctx, cancel := context.WithTimeout(ctx, uploadTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, io.NopCloser(file))
	if err != nil {
		return errors.New("the server returned an address that is none") // the error would have the address, which is a secret
	}
	req.ContentLength = file.Size()
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := c.HTTP.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxReply))
	if err != nil {
		return fmt.Errorf("read the reply: %w", err)
	}
	if res.StatusCode < 200 || res.StatusCode > 299 {
		return problem(res, data, c.Now())
	}
	return nil
}
