//go:build unix

package dir

import (
	"io/fs"
	"os"
	"syscall"
)

// ownerOf returns to whom files in a folder are to be given: to its owner, if this process runs as root and the owner is another user.
// Such as the server's, who could not read what root makes with docent index rebuild.
func ownerOf(folder fs.FileInfo) owner {
	s, ok := folder.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 || os.Geteuid() != 0 {
		return owner{}
	}
	return owner{uid: int(s.Uid), gid: int(s.Gid), other: true}
}
