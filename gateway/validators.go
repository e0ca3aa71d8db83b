package gateway

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// maxValidators bounds what OpenAPI documents are compiled to, in bytes, in the whole process.
const maxValidators = 512 << 20

// validators keeps what documents are compiled to. What was called least recently is dropped when there is too much,
// and compiled again by its next call.
type validators struct {
	most  int64        // bytes
	calls atomic.Int64 // a clock: each call is later than those before it

	mu   sync.Mutex
	kept []weak.Pointer[validator] // those whose versions are gone are not kept by this
}

// compiledDocuments are the validators of the process.
var compiledDocuments = &validators{most: maxValidators}

// validator is what one document is compiled to.
type validator struct {
	in       *validators
	document []byte
	called   atomic.Int64 // by the clock of in
	compiled atomic.Pointer[validate.Validator]
	making   sync.Mutex
	size     int64 // of compiled; guarded by in.mu
}

// get compiles the document, for the first call and those that wait for it.
func (v *validator) get() *validate.Validator {
	v.called.Store(v.in.calls.Add(1))
	if known := v.compiled.Load(); known != nil {
		return known
	}
	v.making.Lock()
	defer v.making.Unlock()
	if known := v.compiled.Load(); known != nil {
		return known
	}
	made, size := compileRequests(v.document)
	v.in.keep(v, made, size)
	return made
}

func (k *validators) keep(v *validator, made *validate.Validator, size int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v.size = size
	v.compiled.Store(made)
	total := size
	var others []*validator
	for _, one := range k.kept {
		if other := one.Value(); other != nil && other != v {
			others = append(others, other)
			total += other.size
		}
	}
	slices.SortFunc(others, func(a, b *validator) int { return int(a.called.Load() - b.called.Load()) })
	for len(others) > 0 && total > k.most {
		others[0].compiled.Store(nil)
		total -= others[0].size
		others = others[1:]
	}
	k.kept = []weak.Pointer[validator]{weak.Make(v)}
	for _, other := range others {
		k.kept = append(k.kept, weak.Make(other))
	}
}

// compiling has a place for each document that is compiled at a time.
var compiling = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))

// compileRequests compiles a document for the calls that wait for it, not while the table is made: a table has the
// revocations of others too. A document that cannot be compiled within its budget matches no request. It also returns
// how many bytes are kept.
func compileRequests(document []byte) (made *validate.Validator, size int64) {
	compiling <- struct{}{}
	defer func() { <-compiling }()
	b := openapi.NewBudget(context.Background(), openapi.Size)
	made, err := validate.CompileJSON(b, document)
	if err != nil {
		return validate.MatchNone(), 0
	}
	return made, b.Used(openapi.Memory)
}
