package dir

import (
	"strings"

	"docent/shared/blob"
)

// Objects are files under a folder of their own: each element of a name is a folder, and the
// last element is the file. A mark that no name can contain distinguishes "a" from "a/b".
// An escaped capital distinguishes "A" from "a" on file systems that ignore case. A long
// element is split over several levels, because file names have at most 255 bytes.
const (
	objects   = "objects"
	fileMark  = "="
	moreMark  = "~" // the element continues in the next level
	capital   = "+" // the next letter is a capital
	maxPiece  = 200 // bytes of an element in one level
	separator = "/"
)

// pathOf returns the path of the object with the valid name.
func pathOf(name string) string {
	return folderOf(name) + fileMark
}

// folderOf returns the folder that holds every name starting with name and "/".
func folderOf(name string) string {
	var path strings.Builder
	path.WriteString(objects)
	for element := range strings.SplitSeq(name, separator) {
		path.WriteString(separator)
		encoded := escape(element)
		for len(encoded) > maxPiece {
			path.WriteString(encoded[:maxPiece] + moreMark + separator)
			encoded = encoded[maxPiece:]
		}
		path.WriteString(encoded)
	}
	return path.String()
}

// nameAt returns the name of the object at path, or false if pathOf never returns path.
func nameAt(path string) (string, bool) {
	encoded, isFile := strings.CutSuffix(path, fileMark)
	if !isFile {
		return "", false
	}
	name, ok := startAt(encoded)
	if !ok || blob.CheckName(name) != nil || pathOf(name) != path {
		return "", false
	}
	return name, true
}

// startAt returns the common start of the names of all objects under the folder path, without
// a "/" at its end.
func startAt(path string) (string, bool) {
	encoded, ok := strings.CutPrefix(path, objects+separator)
	if !ok {
		return "", false
	}
	return unescape(strings.ReplaceAll(encoded, moreMark+separator, "")), true
}

func escape(element string) string {
	var b strings.Builder
	for i := range len(element) {
		c := element[i]
		if 'A' <= c && c <= 'Z' {
			b.WriteString(capital)
			c += 'a' - 'A'
		}
		b.WriteByte(c)
	}
	return b.String()
}

func unescape(encoded string) string {
	var b strings.Builder
	for i := 0; i < len(encoded); i++ {
		c := encoded[i]
		if c == capital[0] && i+1 < len(encoded) && 'a' <= encoded[i+1] && encoded[i+1] <= 'z' {
			i++
			c = encoded[i] - ('a' - 'A')
		}
		b.WriteByte(c)
	}
	return b.String()
}
