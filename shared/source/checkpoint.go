package source

import (
	"encoding/json"
	"fmt"
)

// EncodeCheckpoint returns a connector's checkpoint as JSON.
func EncodeCheckpoint(checkpoint any) []byte {
	text, err := json.Marshal(checkpoint)
	if err != nil {
		panic(err) // every checkpoint can be encoded
	}
	return text
}

// DecodeCheckpoint sets what EncodeCheckpoint wrote in text. Without text, which starts a full scan,
// the checkpoint stays as it is.
func DecodeCheckpoint(text []byte, checkpoint any) error {
	if text == nil {
		return nil
	}
	if err := json.Unmarshal(text, checkpoint); err != nil {
		return fmt.Errorf("decode the checkpoint: %w", err)
	}
	return nil
}
