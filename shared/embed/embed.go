// Package embed turns texts into vectors whose cosine says how close their meanings are.
// embed/local computes them in the process, embed/bedrock and embed/openai ask a service. All
// engines pass one contract suite, embed/embedtest.
package embed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// Bounds of one Embed, the same for every engine.
const (
	MaxTexts = 64        // texts
	MaxBytes = 32 * 1024 // of each text
)

// Errors that callers distinguish with errors.Is. Any other error is temporary: the same call can succeed later.
var (
	// ErrInvalid: the texts are outside the bounds, or the model refuses them. The same texts fail again.
	ErrInvalid = errors.New("invalid texts to embed")
	// ErrModel: the model cannot be used until the operator changes something: its files are missing or
	// damaged, its name is unknown to the service, or the credentials are refused.
	ErrModel = errors.New("embedding model not usable")
)

// Purpose is what a text is embedded for. Some models treat the two differently.
type Purpose int

// The purposes of a text.
const (
	Passage  Purpose = iota // text to be found
	Question                // text that searches
)

// Vector is a text's position in the space of a model. Its length as a vector is 1, so the dot product of two is
// their cosine.
type Vector []float32

// Model identifies a vector space. Vectors of different models are never compared.
type Model struct {
	Name    string // never reused for other weights
	Size    int    // numbers of a vector
	English bool   // it knows little of other languages
}

// Engine embeds texts with one model. Methods are safe for concurrent use.
type Engine interface {
	// Model returns the model, without loading it or asking for it.
	Model() Model
	// Embed returns the vector of each text, in their order. It takes 1 to MaxTexts texts of valid UTF-8, each with
	// a character that is not white space and at most MaxBytes long, and returns ErrInvalid for others. A
	// model reads only the beginning of a text that is too long for it. The other texts of a call do not change a
	// vector. An engine may work on several texts in parallel, within a bound of its own. When ctx ends, it returns
	// its error. Vectors are the caller's.
	Embed(ctx context.Context, texts []string, purpose Purpose) ([]Vector, error)
}

// Check returns an error that wraps ErrInvalid if no Engine takes texts.
func Check(texts []string) error {
	if len(texts) == 0 || len(texts) > MaxTexts {
		return fmt.Errorf("%w: %d texts, must be 1 to %d", ErrInvalid, len(texts), MaxTexts)
	}
	for i, text := range texts {
		switch {
		case len(text) > MaxBytes:
			return fmt.Errorf("%w: text %d has %d bytes, the limit is %d", ErrInvalid, i, len(text), MaxBytes)
		case !utf8.ValidString(text):
			return fmt.Errorf("%w: text %d is not UTF-8", ErrInvalid, i)
		case strings.TrimSpace(text) == "":
			return fmt.Errorf("%w: text %d is blank", ErrInvalid, i)
		}
	}
	return nil
}

// Normalize scales v in place to length 1. It reports whether it could: not if v has no direction, that is if all
// numbers are 0, or if one is not finite.
func Normalize(v Vector) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i := range v {
		v[i] = float32(float64(v[i]) * scale)
	}
	return true
}

// Cosine returns the cosine of two vectors of one model, -1 to 1.
func Cosine(a, b Vector) float64 {
	var sum float64
	for i, x := range a {
		sum += float64(x) * float64(b[i])
	}
	return sum
}
