package keys

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

// The format of a written table: its records, each after recordFollows, then endOfRecords, and then a JSON document
// with the objects that the records refer to. Numbers are varints. The document comes last because records that are
// added during the write may refer to new objects.
const (
	endOfRecords  = 0
	recordFollows = 1
)

// storedShared has the values that the records of a written table refer to by position.
type storedShared struct {
	Common    []storedCommon
	Bounds    []storedBounds
	Importing []string `json:",omitempty"`
	Gone      []byte   `json:",omitempty"` // a list of goneIDs
}

type storedCommon struct {
	Team, Project, Product, TenantID, Environment, TypeID string
	KeyType, Tenant                                       string
	Scopes                                                []string
}

type storedBounds struct {
	Limits *snapshot.Limits
	IPs    []netip.Prefix
}

// storedAtOnce is how many records are written under one read lock. Changes of the table
// wait for it.
const storedAtOnce = 2048

// Write writes the table, which contains hashes but no secrets. Keys that change during the write are written in their
// state before or after the change.
func (t *Table) Write(w *bufio.Writer) error {
	for from := 0; ; from += storedAtOnce {
		piece, more := t.storedPiece(from)
		if _, err := w.Write(piece); err != nil {
			return err
		}
		if !more {
			break
		}
	}
	if err := w.WriteByte(endOfRecords); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(t.storedShared())
}

func (t *Table) storedPiece(from int) (piece []byte, more bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	to := min(from+storedAtOnce, len(t.records))
	for at := from; at < to; at++ {
		r := &t.records[at]
		if r.id == (models.RawID{}) {
			continue
		}
		piece = append(append(append(piece, recordFollows), r.hash[:]...), r.id[:]...)
		piece = append(binary.AppendUvarint(piece, uint64(len(r.owner))), r.owner...)
		piece = binary.AppendVarint(piece, r.expires)
		piece = binary.AppendUvarint(piece, uint64(r.common))
		piece = binary.AppendUvarint(piece, uint64(r.bounds))
		piece = append(piece, byte(r.state))
		old, rotated := t.olds[uint32(at)]
		if !rotated {
			piece = append(piece, 0)
		} else {
			piece = append(append(piece, 1), old[:]...)
			piece = binary.AppendVarint(piece, t.graces[secretOf{t.common[r.common].team, old}].ends)
		}
		var kept []byte
		if of, has := t.kept[uint32(at)]; has {
			kept, _ = json.Marshal(of) // it was read from JSON
		}
		piece = append(binary.AppendUvarint(piece, uint64(len(kept))), kept...)
	}
	return piece, to < len(t.records)
}

func (t *Table) storedShared() storedShared {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := storedShared{Common: make([]storedCommon, len(t.common)), Bounds: make([]storedBounds, len(t.bounds))}
	for i, c := range t.common {
		out.Common[i] = storedCommon{
			Team:        c.team,
			Project:     c.project,
			Product:     c.product,
			TenantID:    c.tenantID,
			Environment: c.environment,
			TypeID:      c.typeID,
			KeyType:     c.keyType,
			Tenant:      c.tenant,
			Scopes:      c.scopes,
		}
	}
	for i, b := range t.bounds {
		out.Bounds[i] = storedBounds{b.limits, b.ips}
	}
	out.Importing = slices.Sorted(maps.Keys(t.importing))
	for id := range t.gone {
		out.Gone = append(out.Gone, id[:]...)
	}
	return out
}

// ReadTable reads a table that Write wrote.
func ReadTable(r *bufio.Reader) (*Table, error) {
	t := NewTable()
	ends := map[uint32]int64{} // of the grace periods
	for {
		mark, err := r.ReadByte()
		if err != nil {
			return nil, fmt.Errorf("keys: read a stored table: %w", err)
		}
		if mark == endOfRecords {
			break
		}
		if err := t.readRecord(r, ends); err != nil {
			return nil, fmt.Errorf("keys: read a stored key: %w", err)
		}
	}
	line, err := r.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("keys: read a stored table: %w", err)
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields() // a newer version may have written a restriction that this one does not enforce
	var shared storedShared
	if err := decoder.Decode(&shared); err != nil {
		return nil, fmt.Errorf("keys: read a stored table: %w", err)
	}
	return t, t.refer(shared, ends)
}

func (t *Table) readRecord(r *bufio.Reader, ends map[uint32]int64) error {
	fields := storedReader{r: r}
	var one record
	fields.bytes(one.hash[:])
	fields.bytes(one.id[:])
	one.owner = fields.text()
	one.expires = fields.signed()
	one.common, one.bounds = fields.position(), fields.position()
	one.state = keyState(fields.byte())
	at := uint32(len(t.records))
	if fields.byte() == 1 {
		var old [32]byte
		fields.bytes(old[:])
		ends[at], t.olds[at] = fields.signed(), old
	}
	if text := fields.text(); text != "" && fields.err == nil {
		var kept contract.KeyIdentity
		fields.err = json.Unmarshal([]byte(text), &kept)
		t.kept[at] = kept
	}
	switch {
	case fields.err != nil:
		return fields.err
	case one.state == removed || one.state > revoked:
		return errors.New("its state is unknown")
	}
	t.records = append(t.records, one)
	t.byID.add(idWord(one.id), at, func(n uint32) uint64 { return idWord(t.records[n].id) })
	return nil
}

// refer takes over what the records refer to, all of which has to be there. Only then their teams are known, in which
// they are found.
func (t *Table) refer(shared storedShared, ends map[uint32]int64) error {
	t.bounds = nil
	for _, b := range shared.Bounds {
		t.bounds = append(t.bounds, bounds{b.Limits, b.IPs})
	}
	for i, c := range shared.Common {
		id := commonID{c.Team, c.Project, c.Product, c.TenantID, c.Environment, c.TypeID}
		t.commons[id] = uint32(i)
		t.common = append(t.common, common{commonID: id, keyType: c.KeyType, tenant: c.Tenant, scopes: c.Scopes})
	}
	for i := range t.records {
		if r := &t.records[i]; int(r.common) >= len(t.common) || int(r.bounds) >= len(t.bounds) {
			return errors.New("keys: a stored key refers to something that doesn't exist")
		}
		t.byHash.add(t.hashWord(uint32(i)), uint32(i), t.hashWord)
	}
	for _, id := range shared.Importing {
		t.importing[id] = true
	}
	for id := range slices.Chunk(shared.Gone, len(goneID{})) {
		if len(id) != len(goneID{}) {
			return errors.New("keys: a stored former secret is cut off")
		}
		t.gone[goneID(id)] = struct{}{}
	}
	for at, old := range t.olds {
		t.graces[secretOf{t.common[t.records[at].common].team, old}] = grace{at, ends[at]}
	}
	return nil
}

// storedReader reads fields until the first error.
type storedReader struct {
	r   *bufio.Reader
	err error
}

func (s *storedReader) bytes(into []byte) {
	if s.err == nil {
		_, s.err = io.ReadFull(s.r, into)
	}
}

func (s *storedReader) byte() byte {
	var one [1]byte
	s.bytes(one[:])
	return one[0]
}

// maxStoredOwner is far beyond the longest owner that a key can have.
const maxStoredOwner = 64 << 10

func (s *storedReader) text() string {
	n := s.unsigned()
	if s.err == nil && n > maxStoredOwner {
		s.err = errors.New("a text is too long")
	}
	if s.err != nil {
		return ""
	}
	text := make([]byte, n)
	s.bytes(text)
	return string(text)
}

func (s *storedReader) unsigned() (n uint64) {
	if s.err == nil {
		n, s.err = binary.ReadUvarint(s.r)
	}
	return n
}

func (s *storedReader) position() uint32 {
	n := s.unsigned()
	if s.err == nil && n != uint64(uint32(n)) {
		s.err = errors.New("a position is too large")
	}
	return uint32(n)
}

func (s *storedReader) signed() (n int64) {
	if s.err == nil {
		n, s.err = binary.ReadVarint(s.r)
	}
	return n
}
