package segment

// OpenInWindows is OpenInOrder with less in memory.
var OpenInWindows = openInOrder
