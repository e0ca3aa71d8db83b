// Package bundle writes and verifies the zip of an exported project. It owns the archive (names, order, checksums), the
// ledger that records how each item was exported, the files that every export has, and offline verification. It leaves
// the files of an export target to the packages below it, each of which provides a Target (see bundle/targets). It
// reads rows through iterators and opens no files. Standards: ZIP (APPNOTE 6.3), JSON (RFC 8259), JSON Pointer (RFC
// 6901 section 3), JSON Lines, CSV (RFC 4180 section 2), OpenAPI 3.0.3.
package bundle

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// Format says whether the zip includes a gateway.
type Format string

// The formats.
const (
	FormatData    Format = "data"    // everything as documents and rows
	FormatGateway Format = "gateway" // the same, and a gateway that uses them
)

// KeysOption says how API keys are exported.
type KeysOption string

// The values of the keys option.
const (
	KeysHashes KeysOption = "hashes" // metadata and SHA-256 hashes, so that existing keys keep working
	KeysMint   KeysOption = "mint"   // the same, with a new key in plaintext for each active one
	KeysNone   KeysOption = "none"   // left out
)

// DefaultKeys returns the keys option of an export that doesn't set it: without consumers, no keys are exported.
func DefaultKeys(consumers bool) KeysOption {
	if consumers {
		return KeysHashes
	}
	return KeysNone
}

// ErrKeysWithoutConsumers means that an export includes keys but not the consumers that own them.
var ErrKeysWithoutConsumers = fault.InvalidField("/keys", "keys_without_consumers",
	"Keys can't be exported without their owners. Include consumers, or set keys to \"none\".")

// Options are the customer's choices.
type Options struct {
	Format    Format
	Keys      KeysOption // "" means DefaultKeys
	Consumers bool       // false leaves out everything about consumers: their keys, names, users and groups
	Secrets   bool       // the secrets that other systems issued to the team; see Input.Secret
	Recipient string     // age public key (age1…) that secrets are encrypted to; "" leaves them in plaintext
}

// Input is the state of a project and how to export it.
type Input struct {
	Project *snapshot.Project
	// Keys streams the project's keys in all states, in ascending order of their IDs. It is called several times and
	// must yield the same rows each time, so the caller has to read from a consistent state.
	Keys func(ctx context.Context) iter.Seq2[snapshot.Key, error]
	// KeysOf is Keys for one tenant, without reading other tenants' keys. If it is nil, Keys is read once for each
	// tenant.
	KeysOf   func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.Key, error]
	KeyCount int64 // number of Keys; only for progress
	// Sample returns a limited number of keys for a preview. If it is nil, the preview reads Keys.
	Sample func(ctx context.Context, most int) (Sample, error)
	// Users streams the users of a tenant in ascending order of their ids, as Keys does. If it is nil, there are none.
	Users func(ctx context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error]
	// Relations streams the owners of objects, in ascending order of tenant ID, object, relation and user, as Keys
	// does. If it is nil, no object has an owner.
	Relations func(ctx context.Context) iter.Seq2[snapshot.Relation, error]
	// Secret returns the secret of an item of the ledger; see Build.SecretItems. It is called if the options include
	// secrets.
	Secret  func(item string) (string, error)
	Options Options
	Target  Target
	// AddressOf is the hosted URL of an environment, without a trailing slash.
	AddressOf func(version, environment string) string
	Generator string                               // name and version of the program that writes the zip
	Sign      func(sums []byte) ([]byte, error)    // Ed25519, of SHA256SUMS; nil if the export isn't signed
	Progress  func(part string, done, total int64) // keys done within a part; may be nil
}

// Result describes a written export.
type Result struct {
	Summary contract.LedgerTotals
	Lines   []Line   // of the ledger's digest
	Size    int64    // bytes of the zip
	SHA256  [32]byte // of the zip
	Entries int
}

// Part is a file of the archive.
type Part struct {
	Name  string
	Doc   string // its section of SCHEMA.md, Markdown without the heading
	Write func(ctx context.Context, w io.Writer) error

	Random bool // the file differs between exports of the same state

	describedBy string // the file whose section is for this one too; "" if it has its own
}

// Build is an ongoing export.
type Build struct {
	Project   *snapshot.Project
	Options   Options
	AddressOf func(version, environment string) string
	Generator string
	Memo      any // values that the target computes once for all subjects

	target    Target
	source    func(ctx context.Context, tenant snapshot.Tenant) iter.Seq2[snapshot.Key, error]
	users     func(ctx context.Context, tenant snapshot.Tenant) iter.Seq2[snapshot.User, error]
	relations func(ctx context.Context) iter.Seq2[snapshot.Relation, error] // nil: there are none
	secret    func(item string) (string, error)
	total     int64
	progress  func(part string, done, total int64)
	seed      []byte                                            // of minted keys; nil if none are minted
	minted    func(k *snapshot.Key) (hash *[32]byte, err error) // of the new key for k; nil if there is none
	sign      func(sums []byte) ([]byte, error)
	counts    keyCounts
	read      map[string]int64 // keys of each tenant that was read, by its id
	ordered   map[string]bool  // files whose rows a complete pass has checked
	digest    Digest
	closers   []func()                      // close what parts that are written in pieces keep open
	mappers   func() map[string]map[int]int // see realm.Source.GroupMappers
}

// Write streams the archive of in to w. Two calls for the same state write the same bytes, except with KeysMint, whose
// new keys are random. Its memory usage doesn't grow with the number of keys, except by 16 bytes per distinct owner if
// a target lists the owners.
//
// It returns errors of kind Invalid for impossible options and for a project that breaks the product's naming rules.
// Other errors wrap those of Keys, w and ctx.
func Write(ctx context.Context, w io.Writer, in Input) (Result, error) {
	b, err := newBuild(in)
	if err != nil {
		return Result{}, err
	}
	defer b.close()
	parts, err := b.parts()
	if err != nil {
		return Result{}, err
	}
	archive := newArchive(w, b.Project.RevisedAt)
	for _, part := range parts {
		if err := ctx.Err(); err != nil {
			return Result{}, fmt.Errorf("bundle: before %s: %w", part.Name, err)
		}
		if err := archive.add(ctx, part); err != nil {
			return Result{}, err
		}
	}
	if err := b.seal(ctx, archive, parts); err != nil {
		return Result{}, err
	}
	size, sum, err := archive.close()
	if err != nil {
		return Result{}, err
	}
	return Result{
		Summary: b.digest.Summary, Lines: b.digest.Lines, Size: size, SHA256: sum, Entries: len(archive.files),
	}, nil
}

func newBuild(in Input) (*Build, error) {
	if in.Options.Keys == "" {
		in.Options.Keys = DefaultKeys(in.Options.Consumers)
	}
	if err := checkInput(in); err != nil {
		return nil, err
	}
	b := &Build{
		Project: in.Project, Options: in.Options, AddressOf: in.AddressOf, Generator: in.Generator,
		target: in.Target, total: in.KeyCount, progress: in.Progress, sign: in.Sign,
		ordered: map[string]bool{},
		source:  func(ctx context.Context, _ snapshot.Tenant) iter.Seq2[snapshot.Key, error] { return in.Keys(ctx) },
	}
	if in.KeysOf != nil {
		b.source, b.read = in.KeysOf, map[string]int64{}
	}
	b.minted, b.secret, b.relations = b.hashOfMinted, in.Secret, in.Relations
	if b.users = in.Users; b.users == nil {
		b.users = func(context.Context, snapshot.Tenant) iter.Seq2[snapshot.User, error] {
			return func(func(snapshot.User, error) bool) {}
		}
	}
	if b.progress == nil {
		b.progress = func(string, int64, int64) {}
	}
	b.mappers = sync.OnceValue(func() map[string]map[int]int {
		return b.Realm(context.Background(), "").GroupMappers()
	})
	if in.Options.Keys == KeysMint {
		b.seed = make([]byte, 32)
		rand.Read(b.seed) // never fails: it ends the process instead
	}
	return b, nil
}

func checkInput(in Input) error {
	switch in.Options.Keys {
	case KeysHashes, KeysMint, KeysNone:
	default:
		return fault.InvalidField("/keys", "unknown_keys_option", "keys must be \"hashes\", \"mint\" or \"none\".")
	}
	if in.Options.Keys != KeysNone && !in.Options.Consumers {
		return ErrKeysWithoutConsumers
	}
	if in.Options.Recipient != "" {
		if !in.Options.Secrets {
			return fault.InvalidField("/recipient", "recipient_without_secrets",
				"A recipient applies only to secrets. Include secrets, or leave the recipient out.")
		}
		if _, err := ParseRecipient(in.Options.Recipient); err != nil {
			return err
		}
	}
	if in.Options.Format != in.Target.Format {
		return fault.InvalidField("/format", "unknown_format", "format must be \"data\" or \"gateway\".")
	}
	return checkProject(in.Project)
}

// parts lists the files in the order they are written. That is the order of their names, with
// these exceptions: the key rows come before the report, because the report begins with a summary that counts them,
// README.md and the report for people sum the report up, and the checksums come last.
func (b *Build) parts() ([]Part, error) {
	var parts []Part
	if b.HasKeys() {
		for _, tenant := range b.Project.Tenants {
			parts = append(parts, b.keyRows(tenant))
			if b.mints() {
				parts = append(parts, b.mintedRows(tenant), b.mintNotice(tenant))
			}
		}
	}
	parts = append(parts, b.login()...)
	parts = append(parts, b.people()...)
	parts = append(parts, b.realm()...)
	parts = append(parts, b.secrets()...)
	parts = append(parts, b.relationRows()...)
	parts = append(parts, b.rules()...)
	parts = append(parts, b.transforms()...)
	parts = append(parts, b.projectConfig())
	parts = append(parts, b.openAPI()...)
	if b.target.Parts != nil {
		own, err := b.target.Parts(b)
		if err != nil {
			return nil, fmt.Errorf("bundle: parts of %s: %w", b.target.Name, err)
		}
		parts = append(parts, own...)
	}
	parts = append(parts, b.report(), b.reportText())
	return append(parts, b.readme(parts)), nil
}

// seal writes the files that describe all others.
func (b *Build) seal(ctx context.Context, archive *archive, parts []Part) error {
	for _, part := range b.seals(archive, parts) {
		if err := archive.add(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// seals lists the files that describe all others, in the order they are written.
func (b *Build) seals(archive *archive, parts []Part) []Part {
	seals := []Part{b.manifest(archive), sumsPart(archive)}
	if b.sign != nil {
		seals = append(seals, signaturePart(archive, b.sign))
	}
	guide := schemaPart(b, append(append([]Part{}, parts...), seals...))
	return append([]Part{guide}, seals...)
}

// close ends the passes over rows that parts have not finished.
func (b *Build) close() {
	for _, end := range b.closers {
		end()
	}
}

// mints reports whether each active key has a new one in this export.
func (b *Build) mints() bool { return b.Options.Keys == KeysMint }

// HasKeys reports whether this export has key rows.
func (b *Build) HasKeys() bool { return b.Options.Keys != KeysNone }

// ExportedAt returns the time of the exported state rather than of the export, so that two exports of the same state
// are equal.
func (b *Build) ExportedAt() string { return stamp(b.Project.RevisedAt) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

func hexSum(sum [32]byte) string { return hex.EncodeToString(sum[:]) }
