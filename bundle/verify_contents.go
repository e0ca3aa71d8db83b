package bundle

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/snapshot"
)

// contents checks each document and that the documents agree with each other. It returns
// the build that they describe.
func (v *verifier) contents(targets []Target) (Report, *Build, error) {
	report := Report{Entries: len(v.files)}
	if err := v.manifest(&report); err != nil {
		return Report{}, nil, err
	}
	config, err := decodeWhole[projectDoc](v, configFile)
	if err != nil {
		return Report{}, nil, err
	}
	l := &ledgerCheck{
		v:        v,
		report:   &report,
		seed:     maphash.MakeSeed(),
		seen:     map[uint64]struct{}{},
		keyRows:  map[uint64]rowRef{},
		pointers: map[string]map[uint64]int64{},
		probes:   map[string]bool{},
		entries:  map[uint64]rowRef{},
		metadata: slices.ContainsFunc(config.Versions, func(d versionDoc) bool {
			return d.RequestsAuth.SendsMetadata()
		}),
		revoked: slices.ContainsFunc(config.Versions, func(d versionDoc) bool {
			return NeedsRevoked(d.RequestsAuth, config.ImportedKeys)
		}),
	}
	if err := v.required(report.Manifest.Options, config); err != nil {
		return Report{}, nil, err
	}
	if err := l.readKeyRows(config); err != nil {
		return Report{}, nil, err
	}
	if err := l.readProbes(); err != nil {
		return Report{}, nil, err
	}
	if err := l.readItems(config, targets); err != nil {
		return Report{}, nil, err
	}
	if err := l.complete(config); err != nil {
		return Report{}, nil, err
	}
	if err := l.resolve(); err != nil {
		return Report{}, nil, err
	}
	if err := l.gatewayHasAll(); err != nil {
		return Report{}, nil, err
	}
	b, err := l.generated(config, l.target)
	return report, b, err
}

// edition refuses an archive of an edition that this program does not know. It runs before everything that depends on
// the edition, so it only looks at the format.
func (v *verifier) edition() error {
	data, err := v.read(manifestFile)
	if err != nil {
		return err
	}
	if err := v.count(manifestFile, data); err != nil {
		return err
	}
	var m struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return problem(manifestFile, "it doesn't have the expected format: %s", err)
	}
	number, ok := strings.CutPrefix(m.Format, manifestFormat)
	switch {
	case !ok:
		return problem(manifestFile, "format %q isn't %s%d: this isn't a Postern export",
			m.Format, manifestFormat, Edition)
	case number != strconv.Itoa(Edition):
		return problem(manifestFile, "the zip has edition %q, but this version of Postern reads edition %d: use the "+
			"version that wrote the zip, or export the project again with this version", number, Edition)
	}
	return nil
}

func (v *verifier) manifest(report *Report) error {
	m, err := decodeWhole[Manifest](v, manifestFile)
	if err != nil {
		return err
	}
	if m.Generator == "" || printable(m.Generator) != m.Generator {
		return problem(manifestFile, "generator isn't the name of a program")
	}
	listed := map[string]bool{manifestFile: true, sumsFile: true, signatureFile: true}
	for _, f := range m.Files {
		entry, ok := v.files[f.Name]
		if !ok {
			return problem(f.Name, "it is missing, but %s lists it", manifestFile)
		}
		if entry.UncompressedSize64 != uint64(f.Size) {
			return problem(f.Name, "%s lists it with a different size", manifestFile)
		}
		listed[f.Name] = true
	}
	for _, name := range v.names() {
		if !listed[name] {
			return problem(name, "it isn't listed in %s", manifestFile)
		}
	}
	report.Manifest = m
	return nil
}

// decodeWhole parses a small document strictly: without unknown fields, and without anything after it.
func decodeWhole[T any](v *verifier, name string) (T, error) {
	var out T
	data, err := v.read(name)
	if err != nil {
		return out, err
	}
	if err := v.count(name, data); err != nil {
		return out, err
	}
	return out, strict(name, data, &out)
}

func strict(entry string, data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return problem(entry, "it doesn't have the expected format: %s", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return problem(entry, "there is more text after the document")
	}
	return nil
}

// ledgerCheck compares the ledger with the other files. It keeps long lists as hashes.
type ledgerCheck struct {
	v        *verifier
	report   *Report
	seed     maphash.Seed
	seen     map[uint64]struct{}         // ids of items
	keyRows  map[uint64]rowRef           // IDs of items that key rows require and that the ledger hasn't had yet
	pointers map[string]map[uint64]int64 // by file: pointers to resolve, with the number of their item
	probes   map[string]bool             // ids of recorded probes
	entries  map[uint64]rowRef           // entries that the gateway's key table must have
	metadata bool                        // entries have the metadata of keys
	revoked  bool                        // entries of revoked keys are there
	token    *ration                     // of the current document; nil for a line, whose length is limited
	target   Target
	digest   Digest // of the items
	deleted  bool   // the project according to the ledger
}

type rowRef struct {
	file string
	line int
}

func (l *ledgerCheck) hash(s string) uint64 { return maphash.String(l.seed, s) }

func (l *ledgerCheck) readKeyRows(config projectDoc) error {
	for _, name := range l.v.names() {
		if !strings.HasPrefix(name, "tenants/") || !strings.HasSuffix(name, "/keys/keys.jsonl") {
			continue
		}
		if err := l.readKeysFile(name, config); err != nil {
			return err
		}
	}
	if l.report.Keys != l.report.Manifest.Counts.Keys {
		counted := l.report.Manifest.Counts.Keys
		return problem(manifestFile, "it counts %d keys, but the zip contains %d", counted, l.report.Keys)
	}
	return nil
}

func (l *ledgerCheck) readKeysFile(name string, config projectDoc) error {
	minted, err := l.v.openMinted(name)
	if err != nil {
		return err
	}
	defer minted.close()
	err = l.v.lines(name, func(n int, line []byte) error {
		var row keyDoc
		if err := strict(fmt.Sprintf("%s: line %d", name, n+1), line, &row); err != nil {
			return err
		}
		if row.ProjectID != config.ID {
			return problem(name, "line %d belongs to another project", n+1)
		}
		if sum, err := hex.DecodeString(row.SHA256); err != nil || len(sum) != 32 {
			return problem(name, "line %d doesn't have a SHA-256", n+1)
		}
		key, _, err := row.key()
		if err != nil {
			return problem(name, "line %d: %s", n+1, err)
		}
		for _, id := range rowItems(&key) {
			l.keyRows[l.hash(id)] = rowRef{name, n}
		}
		l.gatewayNeeds(row, &key, rowRef{name, n})
		l.report.Keys++
		return l.newKey(minted, name, n, row)
	})
	if err != nil {
		return err
	}
	return minted.end()
}

// newKey checks a row against the options: with mint every active key has a new one.
func (l *ledgerCheck) newKey(minted *mintedCheck, name string, n int, row keyDoc) error {
	due := l.report.Manifest.Options.Keys == KeysMint && Mintable(&snapshot.Key{
		State:       snapshot.KeyState(row.State),
		OwnerFrozen: row.OwnerFrozen,
	})
	switch {
	case due && row.MintedSHA256 == nil:
		return problem(name, "line %d doesn't have the SHA-256 of a new key", n+1)
	case !due && row.MintedSHA256 != nil:
		return problem(name, "line %d has the SHA-256 of a new key, but shouldn't", n+1)
	case due:
		return minted.next(name, row)
	}
	return nil
}

func (l *ledgerCheck) readProbes() error {
	const name = "verify/probes.jsonl"
	if _, have := l.v.files[name]; !have {
		return nil
	}
	return l.v.lines(name, func(n int, line []byte) error {
		var row struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(line, &row); err != nil || row.ID == "" {
			return problem(name, "line %d isn't a probe", n+1)
		}
		l.probes[row.ID] = true
		return nil
	})
}

// ledgerHead is the ledger without its items, which are streamed.
type ledgerHead struct {
	Format     string                `json:"format"`
	Generator  string                `json:"generator"`
	Project    ManifestProject       `json:"project"`
	Target     string                `json:"target"`
	ExportedAt string                `json:"exported_at"`
	Summary    contract.LedgerTotals `json:"summary"`
}

func (l *ledgerCheck) readItems(config projectDoc, targets []Target) error {
	r, err := l.v.open(reportFile)
	if err != nil {
		return err
	}
	defer r.Close()
	in := &ration{from: r, left: int(filelimits.ZipRow.Most)}
	d := json.NewDecoder(in)
	d.DisallowUnknownFields()
	head, err := readLedgerHead(d)
	if err != nil {
		return problem(reportFile, "it doesn't have the expected format: %s", err)
	}
	if head.Format != ledgerFormat || head.Project != (ManifestProject{config.ID, config.Name}) {
		return problem(reportFile, "it is the ledger for a different format or project")
	}
	if (head.Target == Data.Name) != (l.report.Manifest.Options.Format == FormatData) {
		return problem(reportFile, "target %q doesn't belong to the format %s", head.Target,
			l.report.Manifest.Options.Format)
	}
	at := slices.IndexFunc(targets, func(t Target) bool { return t.Name == head.Target })
	if at < 0 {
		return problem(reportFile, "this version of Postern doesn't support its target %q", head.Target)
	}
	l.target = targets[at]
	for d.More() {
		if err := l.v.ctx.Err(); err != nil {
			return fmt.Errorf("verify %s: %w", reportFile, err)
		}
		if l.report.Items == filelimits.ZipRows.Most {
			return beyond(reportFile, filelimits.ZipRows)
		}
		in.left = int(filelimits.ZipRow.Most)
		var item Item
		if err := d.Decode(&item); err != nil {
			return problem(reportFile, "item %d doesn't have the expected format: %s", l.report.Items, err)
		}
		if err := l.item(head.Target, item); err != nil {
			return err
		}
		l.digest.Add(item)
		l.report.Items++
	}
	if l.digest.Summary != head.Summary {
		return problem(reportFile, "its summary doesn't match its items")
	}
	l.report.Summary, l.report.Target = head.Summary, head.Target
	return nil
}

// readLedgerHead reads up to the first item. The items come last in a ledger.
func readLedgerHead(d *json.Decoder) (ledgerHead, error) {
	fields := map[string]json.RawMessage{}
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return ledgerHead{}, fmt.Errorf("it isn't an object")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return ledgerHead{}, err
		}
		if name == "items" {
			if t, err := d.Token(); err != nil || t != json.Delim('[') {
				return ledgerHead{}, fmt.Errorf("items isn't a list")
			}
			whole, err := json.Marshal(fields)
			if err != nil {
				return ledgerHead{}, err
			}
			var head ledgerHead
			return head, strict(reportFile, whole, &head)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return ledgerHead{}, err
		}
		fields[fmt.Sprint(name)] = value
	}
	return ledgerHead{}, fmt.Errorf("it doesn't have any items")
}

func (l *ledgerCheck) item(target string, item Item) error {
	id := l.hash(item.ID)
	if _, twice := l.seen[id]; twice {
		return problem(reportFile, "item %s appears twice", item.ID)
	}
	l.seen[id] = struct{}{}
	delete(l.keyRows, id)
	switch item.Status {
	case Exact, Approximate, Lossy, Skipped:
	default:
		return problem(reportFile, "item %s has status %q", item.ID, item.Status)
	}
	if !strings.HasPrefix(item.Code, target+"."+item.Kind+".") || item.Note == "" ||
		!strings.HasPrefix(item.ID, item.Kind+":") {
		return problem(reportFile, "item %s doesn't have a valid code or note", item.ID)
	}
	if err := declared(l.target, item); err != nil {
		return err
	}
	l.deleted = l.deleted || snapshot.Feature(item.Kind) == snapshot.FeatureBin
	for _, p := range []*Pointer{item.Source, item.Target} {
		if p == nil {
			continue
		}
		if _, have := l.v.files[p.File]; !have {
			return problem(p.File, "it is missing, but item %s points to it", item.ID)
		}
		if l.pointers[p.File] == nil {
			l.pointers[p.File] = map[uint64]int64{}
		}
		l.pointers[p.File][l.hash(p.Pointer)] = l.report.Items
	}
	for _, probe := range item.Probes {
		if !l.probes[probe] {
			return problem(reportFile, "item %s names probe %s, which isn't recorded", item.ID, probe)
		}
	}
	return nil
}
