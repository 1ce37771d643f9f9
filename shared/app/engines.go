package app

import (
	"docent/shared/blob"
	"docent/shared/queue"
	"docent/shared/table"
)

// Engines are stores and queues that programs on AWS use instead of AWS's own, such as those of a
// simulation.
type Engines struct {
	Table table.Store
	Blobs blob.Store
	// Queues has the queue of each address in Config. One that is empty or unknown is not used.
	Queues map[string]queue.Queue
}

// of returns the engines of an installation on e.
func (e Engines) of(c Config) engines {
	return engines{table: e.Table, blobs: e.Blobs,
		questions: e.Queues[c.QuestionsQueue], documents: e.Queues[c.DocumentsQueue], syncs: e.Queues[c.SyncsQueue], rebuilds: e.Queues[c.RebuildsQueue],
		embeddings: e.Queues[c.EmbeddingsQueue], deliveries: e.Queues[c.DeliveriesQueue], extractions: e.Queues[c.ExtractionsQueue]}
}
