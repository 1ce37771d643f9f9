package simulate

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"docent/shared/blob"
	"docent/shared/memory"
	"docent/shared/table"
)

var _ blob.Store = (*Objects)(nil)

// Objects is a bucket of S3.
type Objects struct {
	chance *Chance

	mu       sync.Mutex
	names    []string // sorted
	objects  map[string]object
	prefixes map[string]*prefix
	used     ObjectsUsed
}

// ObjectsUsed is a summary of the calls of Objects.
type ObjectsUsed struct {
	Reads, Writes, Slowed int
	Bytes                 int64 // read
}

type object struct {
	data     []byte
	modified time.Time
}

type prefix struct{ reads, writes *bucket }

// NewObjects returns an empty bucket, whose calls take the time that chance draws.
func NewObjects(chance *Chance) *Objects {
	return &Objects{chance: chance, objects: map[string]object{}, prefixes: map[string]*prefix{}}
}

// Used returns what the calls were so far.
func (o *Objects) Used() ObjectsUsed {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.used
}

// Count returns the number of objects.
func (o *Objects) Count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.names)
}

var errSlowDown = errors.New("S3: reduce your request rate")

// call begins one request on a name. It waits and tries again while its prefix is above its rate, as the SDK does.
func (o *Objects) call(ctx context.Context, name string, write bool) error {
	var tries retries
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if o.admit(name, write) {
			break
		}
		if err := tries.again(ctx, o.chance, errSlowDown); err != nil {
			return err
		}
	}
	if write {
		return o.chance.take(ctx, objectWriteLatency)
	}
	return o.chance.take(ctx, objectReadLatency)
}

func (o *Objects) admit(name string, write bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if write {
		o.used.Writes++
	} else {
		o.used.Reads++
	}
	if !o.chance.takesTime() {
		return true
	}
	folder := name[:strings.LastIndexByte(name, '/')+1]
	p, now := o.prefixes[folder], time.Now()
	if p == nil {
		p = &prefix{newBucket(prefixReads, time.Second, now), newBucket(prefixWrites, time.Second, now)}
		o.prefixes[folder] = p
	}
	b := p.reads
	if write {
		b = p.writes
	}
	if !b.admits(now) {
		o.used.Slowed++
		return false
	}
	b.level--
	return true
}

// Put implements blob.Store.
func (o *Objects) Put(ctx context.Context, name string, data []byte) error {
	if err := blob.CheckName(name); err != nil {
		return err
	}
	defer table.MeterFrom(ctx).Begin()()
	data = bytes.Clone(data)
	if err := o.call(ctx, name, true); err != nil {
		return err
	}
	if err := o.transfer(ctx, len(data)); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	place, found := slices.BinarySearch(o.names, name)
	if found {
		return blob.ErrExists
	}
	o.names = slices.Insert(o.names, place, name)
	o.objects[name] = object{data, time.Now()}
	return nil
}

// transfer lets the time pass in which size bytes are sent.
func (o *Objects) transfer(ctx context.Context, size int) error {
	d := time.Duration(float64(size) / objectBytesPerSecond * float64(time.Second))
	return o.chance.take(ctx, Latency{d, d})
}

// Get implements blob.Store.
func (o *Objects) Get(ctx context.Context, name string) ([]byte, error) {
	return o.read(ctx, name, func(data []byte) ([]byte, error) { return data, nil })
}

// GetRange implements blob.Store.
func (o *Objects) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if offset < 0 || length < 0 || offset > math.MaxInt64-length {
		return nil, blob.ErrInvalid
	}
	return o.read(ctx, name, func(data []byte) ([]byte, error) {
		if size := int64(len(data)); offset+length > size {
			return nil, blob.ErrInvalid
		}
		return data[offset : offset+length], nil
	})
}

func (o *Objects) read(ctx context.Context, name string, part func([]byte) ([]byte, error)) ([]byte, error) {
	if err := blob.CheckName(name); err != nil {
		return nil, err
	}
	defer table.MeterFrom(ctx).Begin()()
	if err := o.call(ctx, name, false); err != nil {
		return nil, err
	}
	o.mu.Lock()
	found, ok := o.objects[name]
	o.mu.Unlock()
	if !ok {
		return nil, blob.ErrNotFound
	}
	data, err := part(found.data)
	if err != nil {
		return nil, err
	}
	if err := memory.ReserveRead(ctx, int64(len(data))); err != nil {
		return nil, err
	}
	o.mu.Lock()
	o.used.Bytes += int64(len(data))
	o.mu.Unlock()
	return bytes.Clone(data), o.transfer(ctx, len(data))
}

// List implements blob.Store.
func (o *Objects) List(ctx context.Context, prefix string) iter.Seq2[blob.Info, error] {
	return o.ListAfter(ctx, prefix, "")
}

// ListAfter implements blob.Store.
func (o *Objects) ListAfter(ctx context.Context, prefix, after string) iter.Seq2[blob.Info, error] {
	return func(yield func(blob.Info, error) bool) {
		if err := blob.CheckPrefix(prefix); err != nil {
			yield(blob.Info{}, err)
			return
		}
		for {
			infos, err := o.page(ctx, prefix, after)
			if err != nil {
				yield(blob.Info{}, err)
				return
			}
			for _, info := range infos {
				if !yield(info, nil) {
					return
				}
				after = info.Name
			}
			if len(infos) < listPage {
				return
			}
		}
	}
}

// page returns up to listPage objects after a name.
func (o *Objects) page(ctx context.Context, prefix, after string) ([]blob.Info, error) {
	defer table.MeterFrom(ctx).Begin()()
	if err := o.call(ctx, prefix, false); err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	place, found := slices.BinarySearch(o.names, max(prefix, after))
	if found && o.names[place] == after {
		place++
	}
	var infos []blob.Info
	for _, name := range o.names[place:] {
		if len(infos) == listPage || !strings.HasPrefix(name, prefix) {
			break
		}
		infos = append(infos, blob.Info{Name: name, Size: int64(len(o.objects[name].data)), Modified: o.objects[name].modified})
	}
	return infos, nil
}

// Delete implements blob.Store. A request takes 1,000 names.
func (o *Objects) Delete(ctx context.Context, names ...string) error {
	for _, name := range names {
		if err := blob.CheckName(name); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	for some := range slices.Chunk(names, listPage) {
		if err := o.remove(ctx, some); err != nil {
			return err
		}
	}
	return nil
}

func (o *Objects) remove(ctx context.Context, names []string) error {
	defer table.MeterFrom(ctx).Begin()()
	if err := o.call(ctx, names[0], true); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, name := range names {
		if place, found := slices.BinarySearch(o.names, name); found {
			o.names = slices.Delete(o.names, place, place+1)
			delete(o.objects, name)
		}
	}
	return nil
}
