package queue

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of times, the same for every engine.
const (
	MaxDelay = 15 * time.Minute // of Send and Retry
	MaxWait  = 20 * time.Second // of Receive; a longer wait is cut to it
)

// groupLetters are what a group consists of.
const groupLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"

// CheckSend returns nil for messages that every engine accepts, otherwise an error
// that wraps ErrInvalid.
func CheckSend(messages []Outgoing) error {
	if len(messages) == 0 || len(messages) > MaxBatch {
		return fmt.Errorf("%w: %d messages, not 1 to %d", ErrInvalid, len(messages), MaxBatch)
	}
	size := 0
	for _, m := range messages {
		if len(m.Body) == 0 {
			return fmt.Errorf("%w: empty body", ErrInvalid)
		}
		if size += len(m.Body); size > MaxBytes {
			return fmt.Errorf("%w: bodies over %d bytes", ErrInvalid, MaxBytes)
		}
		if err := CheckDelay(m.Delay); err != nil {
			return err
		}
		if len(m.Group) > MaxGroup || strings.Trim(m.Group, groupLetters) != "" {
			return fmt.Errorf("%w: malformed group", ErrInvalid)
		}
	}
	for _, m := range messages {
		if err := checkText(m.Body); err != nil {
			return err
		}
	}
	return nil
}

// CheckDelay returns nil for 0 to MaxDelay, otherwise an error that wraps ErrInvalid.
func CheckDelay(delay time.Duration) error {
	if delay < 0 || delay > MaxDelay {
		return fmt.Errorf("%w: delay %s, not 0 to %s", ErrInvalid, delay, MaxDelay)
	}
	return nil
}

// CheckReceive returns the wait to use, cut to MaxWait. It returns an error that wraps
// ErrInvalid if limit is not 1 to MaxBatch or wait is negative.
func CheckReceive(limit int, wait time.Duration) (time.Duration, error) {
	if limit < 1 || limit > MaxBatch {
		return 0, fmt.Errorf("%w: limit %d, not 1 to %d", ErrInvalid, limit, MaxBatch)
	}
	if wait < 0 {
		return 0, fmt.Errorf("%w: negative wait", ErrInvalid)
	}
	return min(wait, MaxWait), nil
}

// checkText rejects characters that SQS does not accept: those outside XML 1.0.
func checkText(body []byte) error {
	if !utf8.Valid(body) {
		return fmt.Errorf("%w: body is not UTF-8", ErrInvalid)
	}
	for _, r := range string(body) {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF {
			return fmt.Errorf("%w: character %U in a body", ErrInvalid, r)
		}
	}
	return nil
}
