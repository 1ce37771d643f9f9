package scimtest

import (
	"reflect"
	"regexp"
	"strings"
)

// dig follows a path of keys, positions, and objects, which select the first element with their
// values.
func dig(doc any, at []any) (any, bool) {
	for _, key := range at {
		switch k := key.(type) {
		case string:
			object, _ := doc.(map[string]any)
			next, ok := object[k]
			if !ok {
				return nil, false
			}
			doc = next
		case float64:
			list, _ := doc.([]any)
			if int(k) >= len(list) {
				return nil, false
			}
			doc = list[int(k)]
		case map[string]any:
			list, _ := doc.([]any)
			found := false
			for _, e := range list {
				if object, ok := e.(map[string]any); ok && covers(object, k) {
					doc, found = e, true
					break
				}
			}
			if !found {
				return nil, false
			}
		}
	}
	return doc, true
}

func covers(object, part map[string]any) bool {
	for k, v := range part {
		if !reflect.DeepEqual(object[k], v) {
			return false
		}
	}
	return true
}

// holds applies the operator of a check.
func holds(op string, value any, there bool, want any) bool {
	text, _ := value.(string)
	wanted, _ := want.(string)
	list, isList := value.([]any)
	switch op {
	case "exists":
		return there && value != nil
	case "absent":
		return !there
	case "emptyOrAbsent":
		return !there || empty(value)
	case "eq":
		return there && reflect.DeepEqual(value, want)
	case "ne":
		return !there || !reflect.DeepEqual(value, want)
	case "contains":
		return among(list, want)
	case "notContains":
		return !among(list, want)
	case "len":
		return isList && float64(len(list)) == want || !there && want == 0.0
	case "type":
		return there && isType(value, wanted)
	case "oneOf":
		return among(want.([]any), value)
	case "notIn":
		return there && !among(want.([]any), value)
	case "startswith":
		return there && strings.HasPrefix(text, wanted)
	case "endswith":
		return there && strings.HasSuffix(text, wanted)
	case "match":
		return there && regexp.MustCompile(wanted).MatchString(text)
	case "noNulls":
		return there && !nulls(value)
	}
	panic("no operator " + op)
}

func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

func among(list []any, value any) bool {
	for _, e := range list {
		if reflect.DeepEqual(e, value) {
			return true
		}
	}
	return false
}

func isType(value any, name string) bool {
	switch v := value.(type) {
	case float64:
		return name == "int" && v == float64(int64(v))
	case bool:
		return name == "bool"
	case string:
		return name == "string"
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return false
}

func nulls(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case []any:
		for _, e := range v {
			if nulls(e) {
				return true
			}
		}
	case map[string]any:
		for _, e := range v {
			if nulls(e) {
				return true
			}
		}
	}
	return false
}
