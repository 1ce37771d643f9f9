package app

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"docent/shared/search"
)

// Bounds of the server process. httpapi bounds the memory of requests; an idle
// connection takes about 20 KB.
const (
	memoryLimit       = 390 << 20 // above this, garbage is collected before the heap has grown by garbagePercent
	garbagePercent    = 300       // of what is in use: the more, the fewer collections; most of what a request allocates ends with it
	indexLeast        = 64 << 20  // for each of the two parts of the index's cache
	processBytes      = 512 << 20 // for everything but a large index
	partsShare        = 8         // the machine's other memory divided by this, if it is more, is for what every search of a large team needs
	pagesShare        = 4         // the same, where a page that is not in memory is read from S3
	indexHeadroom     = 4         // a part of what the index keeps is for garbage, since each collection scans what is kept
	residentFiles     = 40 << 20  // resident pages of the program and the data; above it, pages of the data are dropped
	lookEvery         = 100 * time.Millisecond
	spareThreads      = 8 // above the processors: the system runs short work at once, Go's scheduler after up to 10 ms
	maxConnections    = 2048
	maxConnectionsOne = 1024 // from one address
)

// boundProcess limits the memory of the process, spares collections of garbage below that, and
// lets the system share the processors between long and short work, unless the environment sets
// these.
func boundProcess() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbagePercent)
	}
	if os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + spareThreads)
	}
}

// indexBytes returns a bound in bytes for what stays of the index in memory: a share of what the
// machine has, or the control group, in addition to processBytes.
func indexBytes(share int64) int64 {
	memory, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
	if err != nil {
		memory = 0 // the system does not tell
	}
	return indexBytesOf(memory, share)
}

func indexBytesOf(memory uint64, share int64) int64 {
	return max(indexLeast, (int64(min(memory, math.MaxInt64))-processBytes)/share)
}

// followIndex sets the limit of memory until ctx ends: memoryLimit, plus what the index caches beyond
// search.DefaultCacheBytes, plus a share of that for garbage. The cache stays full while large teams are searched. With a
// fixed limit, garbage would then be collected all the time.
func followIndex(ctx context.Context, cached func() int64, set func(bytes int64) int64) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for limit := int64(memoryLimit); ; {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		more := max(0, cached()-search.DefaultCacheBytes)
		if now := memoryLimit + more + more/indexHeadroom; now != limit {
			set(now)
			limit = now
		}
	}
}

// boundFiles drops pages of the data file from the memory of the process when there
// are many, until ctx ends. It does nothing on systems that do not report how many.
func boundFiles(ctx context.Context, drop func() error, log *slog.Logger) {
	every := time.NewTicker(lookEvery)
	defer every.Stop()
	for {
		select {
		case <-every.C:
		case <-ctx.Done():
			return
		}
		bytes, ok := fileBytes()
		if !ok {
			return
		}
		if bytes < residentFiles {
			continue
		}
		if err := drop(); err != nil {
			log.WarnContext(ctx, "pages of the data file were not dropped", "err", err)
			return
		}
	}
}

// fileBytes returns the resident bytes of mapped files (proc(5), /proc/pid/statm).
func fileBytes() (int64, bool) {
	text, err := os.ReadFile("/proc/self/statm")
	fields := bytes.Fields(text)
	if err != nil || len(fields) < 3 {
		return 0, false
	}
	pages, err := strconv.ParseInt(string(fields[2]), 10, 64)
	return pages * int64(os.Getpagesize()), err == nil
}

// boundedListener closes connections above its bounds at once.
type boundedListener struct {
	net.Listener

	mu        sync.Mutex
	open      int
	addresses map[string]int
}

func newBoundedListener(l net.Listener) *boundedListener {
	return &boundedListener{Listener: l, addresses: map[string]int{}}
}

// Accept returns the next connection that is within the bounds.
func (l *boundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		address, _, err := net.SplitHostPort(conn.RemoteAddr().String())
		if err != nil {
			address = conn.RemoteAddr().String()
		}
		if l.admit(address) {
			return &boundedConn{Conn: conn, release: sync.OnceFunc(func() { l.release(address) })}, nil
		}
		_ = conn.Close() // an error has no reader
	}
}

func (l *boundedListener) admit(address string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= maxConnections || l.addresses[address] >= maxConnectionsOne {
		return false
	}
	l.open++
	l.addresses[address]++
	return true
}

func (l *boundedListener) release(address string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.addresses[address]--; l.addresses[address] == 0 {
		delete(l.addresses, address)
	}
}

// boundedConn is a connection that is counted until it is closed.
type boundedConn struct {
	net.Conn
	release func()
}

// CloseWrite closes the sending half; net/http calls it so that the client can read the reply.
func (c *boundedConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// Close closes the connection.
func (c *boundedConn) Close() error {
	c.release()
	return c.Conn.Close()
}
