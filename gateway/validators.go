package gateway

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"postern/core/openapi"
	"postern/core/openapi/validate"
	"postern/platform/turns"
)

// Documents bounds the memory for compiled OpenAPI documents, against which requests are validated. If they exceed it,
// the least recently used one is dropped, and its next call compiles it again.
type Documents struct {
	Memory    int64 // bytes, in the process; 512 MiB
	Unclaimed int64 // the same for one unclaimed workspace; 8 MiB
}

func (d Documents) withDefaults() Documents {
	if d.Memory == 0 {
		d.Memory = 512 << 20
	}
	if d.Unclaimed == 0 {
		d.Unclaimed = openapi.UnclaimedMemory.Most
	}
	return d
}

// validators keeps what documents are compiled to.
type validators struct {
	most   Documents
	calls  atomic.Int64 // a clock: each call is later than those before it
	places turns.Places // for those that are compiled at a time

	mu   sync.Mutex
	kept []weak.Pointer[validator] // those whose versions are gone are not kept by this
}

// validator is a compiled document.
type validator struct {
	in        *validators
	team      string // whose turn it is compiled in; "": an unclaimed workspace, all of which are one
	workspace string // team id of the unclaimed workspace; "": it is claimed
	document  []byte
	called    atomic.Int64 // by the clock of in
	compiled  atomic.Pointer[validate.Validator]
	size      int64 // of compiled; guarded by in.mu

	mu     sync.Mutex
	making *making // nil: no call waits
}

// making is the work on a document, which ends with the last call that waits for it.
type making struct {
	calls int // that wait; guarded by validator.mu
	stop  context.CancelFunc
	done  chan struct{} // closed when made and err are set
	made  *validate.Validator
	err   error
}

// compileWithin bounds how long a call waits for a document.
const compileWithin = turns.Within + 5*time.Second

// get returns the compiled document, for all calls that wait for it at the same time. Its error is turns.ErrBusy if too
// many documents are being compiled, and that of the context, also if that takes too long.
func (v *validator) get(ctx context.Context) (*validate.Validator, error) {
	v.called.Store(v.in.calls.Add(1))
	if known := v.compiled.Load(); known != nil {
		return known, nil
	}
	ctx, stop := context.WithTimeout(ctx, compileWithin)
	defer stop()
	m := v.wait()
	defer v.leave(m)
	select {
	case <-m.done:
		return m.made, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// wait returns the work on the document, which it begins if no call waits for it yet.
func (v *validator) wait() *making {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.making == nil {
		ctx, stop := context.WithCancel(context.Background())
		m := &making{stop: stop, done: make(chan struct{})}
		v.making = m
		go func() {
			defer close(m.done)
			defer func() {
				if fault := recover(); fault != nil { // it must not end the process
					m.err = fmt.Errorf("compile the OpenAPI document: panic: %v\n%s", fault, debug.Stack())
				}
			}()
			m.made, m.err = v.make(ctx)
		}()
	}
	v.making.calls++
	return v.making
}

// leave ends the work when no call waits for it any more.
func (v *validator) leave(m *making) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if m.calls--; m.calls == 0 {
		m.stop()
		v.making = nil
	}
}

func (v *validator) make(ctx context.Context) (*validate.Validator, error) {
	if known := v.compiled.Load(); known != nil {
		return known, nil
	}
	leave, err := v.in.places.Take(ctx, v.team)
	if err != nil {
		return nil, err
	}
	defer leave()
	made, size, err := v.compile(ctx)
	if err != nil {
		return nil, err
	}
	v.in.keep(v, made, size)
	return made, nil
}

// compile also returns the size of the result in bytes. A document that cannot be compiled within its budget, which is
// that of its import, matches no request.
func (v *validator) compile(ctx context.Context) (made *validate.Validator, size int64, err error) {
	b := openapi.NewBudget(ctx, openapi.Size)
	made, err = validate.CompileJSON(b, v.document)
	if _, refused := errors.AsType[*openapi.Error](err); refused {
		return validate.MatchNone(), 0, nil
	}
	return made, b.Used(openapi.Memory), err
}

func (k *validators) keep(v *validator, made *validate.Validator, size int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v.size = size
	v.compiled.Store(made)
	total, ofWorkspace := size, size
	var others []*validator
	for _, one := range k.kept {
		if other := one.Value(); other != nil && other != v {
			others = append(others, other)
			total += other.size
			if other.workspace == v.workspace {
				ofWorkspace += other.size
			}
		}
	}
	slices.SortFunc(others, func(a, b *validator) int { return int(a.called.Load() - b.called.Load()) })
	drop := func(other *validator) bool {
		other.compiled.Store(nil)
		total -= other.size
		return true
	}
	others = slices.DeleteFunc(others, func(other *validator) bool {
		if v.workspace == "" || other.workspace != v.workspace || ofWorkspace <= k.most.Unclaimed {
			return false
		}
		ofWorkspace -= other.size
		return drop(other)
	})
	others = slices.DeleteFunc(others, func(other *validator) bool { return total > k.most.Memory && drop(other) })
	k.kept = []weak.Pointer[validator]{weak.Make(v)}
	for _, other := range others {
		k.kept = append(k.kept, weak.Make(other))
	}
}
