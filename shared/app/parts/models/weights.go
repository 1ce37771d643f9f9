package models

import (
	"context"

	"docent/shared/embed/weights"
)

// Weights are the weights of the embedding model in the process, in a folder.
type Weights struct{ Folder string }

// FindWeights returns the weights in a folder, or in the user's cache if it is empty. It does not look whether they are
// there.
func FindWeights(folder string) (Weights, error) {
	if folder == "" {
		var err error
		if folder, err = weights.Folder(); err != nil {
			return Weights{}, err
		}
	}
	return Weights{folder}, nil
}

// Name returns the model's name.
func (w Weights) Name() string { return weights.Name }

// Bytes returns the size of the files.
func (w Weights) Bytes() int64 { return weights.Bytes }

// Check returns an error if a file is missing or not what was published.
func (w Weights) Check() error { return weights.Check(w.Folder) }

// Fetch copies the weights from the user's cache, or downloads them from a Maven repository, from Maven Central if it is
// empty, if they are missing or damaged. It reports whether it downloaded them.
func (w Weights) Fetch(ctx context.Context, repository string) (downloaded bool, err error) {
	o := weights.Options{Repository: repository}
	if cache, err := weights.Folder(); err == nil && cache != w.Folder {
		o.Near = cache
	}
	return weights.Fetch(ctx, w.Folder, o)
}
