package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"sync"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"docent/shared/extract"
)

// Memory is how much memory one file may take in PDFium, its own bytes included.
const Memory = 2 * extract.MaxPDF

const wasmPage = 64 << 10

// pool is PDFium, compiled once in the life of a process, when the first file is read: that takes seconds.
var pool struct {
	sync.Mutex
	pdfium.Pool
}

func compiled() (_ pdfium.Pool, err error) {
	pool.Lock()
	defer pool.Unlock()
	if pool.Pool != nil {
		return pool.Pool, nil
	}
	defer func() {
		if p := recover(); p != nil { // such as a system that lets the process execute nothing that it has written
			err = fmt.Errorf("compile PDFium: %v", p)
		}
	}()
	// Without a folder and without output; a call that its context ends stops at once.
	p, err := webassembly.Init(webassembly.Config{
		MaxTotal: -1, Stdout: io.Discard, Stderr: io.Discard, FSConfig: wazero.NewFSConfig(),
		RuntimeConfig: wazero.NewRuntimeConfig().WithCloseOnContextDone(true).WithMemoryLimitPages(Memory / wasmPage),
	})
	if err != nil {
		return nil, fmt.Errorf("compile PDFium: %w", err)
	}
	pool.Pool = p
	return p, nil
}

// library is one instance of PDFium, with memory of its own. It reads one file and is thrown away: nothing of a file
// reaches the next, and a file that breaks it breaks no other.
type library struct {
	instance  pdfium.Pdfium
	module    api.Module
	functions map[string]api.Function
}

func newLibrary(ctx context.Context) (*library, error) {
	p, err := compiled()
	if err != nil {
		return nil, err
	}
	instance, err := p.GetInstanceWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	l := &library{instance: instance, functions: map[string]api.Function{}}
	// go-pdfium calls every function without a context, so that a hostile page could not be ended, and makes some
	// allocations for each character. The module that it started is called here itself.
	implementation, ok := instance.(interface{ GetImplementation() any })
	if ok {
		l.module, ok = reflect.ValueOf(implementation.GetImplementation()).Elem().FieldByName("Module").Interface().(api.Module)
	}
	if !ok {
		return nil, errors.Join(errors.New("this version of go-pdfium hides its module"), instance.Close())
	}
	return l, nil
}

func (l *library) close() error { return l.instance.Close() }

// errBroken is the error of a call that PDFium did not survive: it ran out of memory, or found itself broken.
var errBroken = errors.New("PDFium stopped")

// call calls a function of PDFium. A function that does work in proportion to the file is given the context of the
// reader; for those that only look something up, the context of no one is faster.
func (l *library) call(ctx context.Context, name string, arguments ...uint64) (uint64, error) {
	f := l.functions[name]
	if f == nil {
		if f = l.module.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("PDFium has no function %s", name)
		}
		l.functions[name] = f
	}
	results, err := f.Call(ctx, arguments...)
	switch {
	case ctx.Err() != nil:
		return 0, ctx.Err()
	case err != nil:
		return 0, fmt.Errorf("%w in %s: %w", errBroken, name, err)
	case len(results) == 0:
		return 0, nil
	}
	return results[0], nil
}

// number calls a function that returns a C int.
func (l *library) number(ctx context.Context, name string, arguments ...uint64) (int, error) {
	n, err := l.call(ctx, name, arguments...)
	return int(int32(n)), err
}

// allocate returns size bytes of the module's memory.
func (l *library) allocate(size uint64) (uint32, error) {
	at, err := l.call(context.Background(), "malloc", size)
	if err == nil && at == 0 {
		err = fmt.Errorf("%w: no memory", errBroken)
	}
	return uint32(at), err
}

// load copies a file into the module.
func (l *library) load(ctx context.Context, file io.ReaderAt, size int64) (uint32, error) {
	at, err := l.allocate(uint64(size))
	if err != nil {
		return 0, err
	}
	buffer := make([]byte, min(size, 1<<20))
	for done := int64(0); done < size; {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := file.ReadAt(buffer[:min(int64(len(buffer)), size-done)], done)
		if n == 0 {
			return 0, fmt.Errorf("read the file: %w", err)
		}
		if !l.module.Memory().Write(at+uint32(done), buffer[:n]) {
			return 0, fmt.Errorf("%w: no memory", errBroken)
		}
		done += int64(n)
	}
	return at, nil
}
