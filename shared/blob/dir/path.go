package dir

import (
	"strings"

	"docent/shared/blob"
)

// Objects are files under a folder of their own; each element of a name is a
// folder, the last one the file. A mark that no name may hold keeps "a" and
// "a/b" apart, an escaped capital keeps "A" and "a" apart where the file system
// folds case, and a long element is spread over several levels, because file
// systems end a file's name at 255 bytes.
const (
	objects   = "objects"
	fileMark  = "="
	moreMark  = "~" // the element continues in the next level
	capital   = "+" // the next letter is a capital
	maxPiece  = 200 // bytes of an element in one level
	separator = "/"
)

// pathOf returns where the object name, a valid one, is kept.
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

// nameAt returns the name of the object kept at path, or false when path is
// none that pathOf gives.
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

// startAt returns what the names of all objects under the folder path start
// with, except for a "/" at its end.
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
