package moving

import (
	"encoding/json"
	"fmt"
)

// SetInJSON returns the JSON object body with a member set to value. The member is named by the
// path of names to it. All other members stay, also unknown ones.
func SetInJSON(body []byte, value any, path ...string) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", path[len(path)-1], err)
	}
	return setRaw(body, encoded, path)
}

func setRaw(body, value []byte, path []string) ([]byte, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil || members == nil {
		return nil, fmt.Errorf("set %s in an item's JSON: it is not an object: %w", path[0], err)
	}
	if len(path) > 1 {
		inner, err := setRaw(members[path[0]], value, path[1:])
		if err != nil {
			return nil, err
		}
		value = inner
	}
	members[path[0]] = value
	return json.Marshal(members)
}
