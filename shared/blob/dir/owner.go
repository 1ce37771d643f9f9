package dir

import (
	"os"
	"path"
)

// owner is another user, to whom root gives the files that it makes. A system that refuses that leaves them to root.
type owner struct {
	uid, gid int
	other    bool // else files belong to who makes them
}

func (o owner) giveFile(f *os.File) {
	if o.other {
		_ = f.Chown(o.uid, o.gid)
	}
}

// mkdirAll makes the folder and those above it.
func (s *Store) mkdirAll(folder string) error {
	if err := s.root.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	for ; s.owner.other && folder != "."; folder = path.Dir(folder) {
		_ = s.root.Lchown(folder, s.owner.uid, s.owner.gid)
	}
	return nil
}
