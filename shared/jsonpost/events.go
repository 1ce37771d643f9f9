package jsonpost

import (
	"bufio"
	"bytes"
	"io"
	"mime"
	"net/http"
)

// maxEvent is the maximum size in bytes of one line of a stream.
const maxEvent = 256 << 10

func isEvents(reply *http.Response) bool {
	media, _, err := mime.ParseMediaType(reply.Header.Get("Content-Type"))
	return err == nil && media == "text/event-stream"
}

// readEvents gives take the data of each event of a stream, of which every line is one event,
// as servers of OpenAI's API send them. It returns ErrReply if the stream breaks off.
func readEvents(from io.Reader, take func(data []byte) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 4<<10), maxEvent)
	for lines.Scan() {
		data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
		if !ok {
			continue // a comment, another field, or the end of an event
		}
		if err := take(bytes.TrimSpace(data)); err != nil {
			return err
		}
	}
	if lines.Err() != nil {
		return ErrReply
	}
	return nil
}
