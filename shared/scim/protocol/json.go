package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"docent/shared/jsoninput"
)

// maxDepth limits the nesting of JSON, of filters and of paths.
const maxDepth = 32

// DecodeObject decodes a JSON object. Input that is not exactly one object in UTF-8, has half of a
// surrogate pair, repeats a key or is nested more than maxDepth levels deep is invalidSyntax.
func DecodeObject(body []byte) (map[string]any, error) {
	if !utf8.Valid(body) {
		return nil, Bad(InvalidSyntax, "The request body is not UTF-8.")
	}
	if jsoninput.HasLoneSurrogate(body) {
		return nil, Bad(InvalidSyntax, "The request body %s.", jsoninput.LoneSurrogate)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	value, err := decodeValue(d, 0)
	if errors.Is(err, errMalformed) {
		return nil, notJSON(body)
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, Bad(InvalidSyntax, "The request body continues after its JSON object.")
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, Bad(InvalidSyntax, "The request body is not a JSON object.")
	}
	return object, nil
}

// errMalformed says that a text is not JSON.
var errMalformed = errors.New("not well-formed JSON")

// notJSON returns the error for a body that is not JSON, with the place of the fault.
func notJSON(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return Bad(InvalidSyntax, "The request needs a JSON body.")
	}
	fault := jsoninput.Malformed(body, json.Unmarshal(body, new(json.RawMessage)))
	if fault == "" {
		fault = "is not well-formed JSON"
	}
	return Bad(InvalidSyntax, "The request body %s.", fault)
}

// DecodeStored decodes a JSON value that Encode wrote.
func DecodeStored(value []byte) (any, error) {
	switch {
	case len(value) > 1 && value[0] == '"' && bytes.IndexByte(value, '\\') < 0:
		return string(value[1 : len(value)-1]), nil
	case string(value) == "true", string(value) == "false":
		return string(value) == "true", nil
	}
	d := json.NewDecoder(bytes.NewReader(value))
	d.UseNumber()
	return decodeValue(d, 0)
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, errMalformed
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return token, nil
	}
	if depth == maxDepth {
		return nil, Bad(InvalidSyntax, "The request body is nested more than %d levels deep.", maxDepth)
	}
	if delim == '[' {
		return decodeList(d, depth)
	}
	return decodeMembers(d, depth)
}

func decodeList(d *json.Decoder, depth int) (any, error) {
	values := []any{}
	for d.More() {
		value, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, closed(d)
}

func decodeMembers(d *json.Decoder, depth int) (any, error) {
	object := map[string]any{}
	for d.More() {
		token, err := d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return nil, errMalformed
		}
		if _, repeated := object[key]; repeated {
			return nil, Bad(InvalidSyntax, "The request body repeats the key %q.", Shorten(key))
		}
		if object[key], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	return object, closed(d)
}

// closed reads the end of a list or of an object.
func closed(d *json.Decoder) error {
	if _, err := d.Token(); err != nil {
		return errMalformed
	}
	return nil
}

// Encode returns the canonical JSON of a tree: sorted keys, no HTML escapes.
func Encode(tree any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(tree); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

func clone(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for key, member := range v {
			object[key] = clone(member)
		}
		return object
	case []any:
		values := make([]any, len(v))
		for i, member := range v {
			values[i] = clone(member)
		}
		return values
	default:
		return v
	}
}
