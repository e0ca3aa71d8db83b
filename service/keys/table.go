package keys

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/models"
)

// Table holds all keys of the installation in memory. It finds a key by its team and the hash of any of its valid
// secrets. A key takes about 130 bytes, because values that many keys share are stored once. Table is safe for
// concurrent use, and lookups don't wait for each other.
type Table struct {
	mu        sync.RWMutex
	records   []record
	byHash    index
	byID      index
	common    []common
	commons   map[commonID]uint32
	bounds    []bounds
	bounded   map[string]uint32  // by what they say, for intern
	graces    map[secretOf]grace // by the hash of the old secret
	olds      map[uint32][32]byte
	kept      map[uint32]contract.KeyIdentity // of the few keys that have one
	importing map[string]bool                 // teams that have imported keys
	gone      map[goneID]struct{}             // see Gone
	version   atomic.Uint64                   // the number of its last change among those of all tables
}

var changes atomic.Uint64

// lock begins a change: who found a key before it looks again.
func (t *Table) lock() {
	t.mu.Lock()
	t.version.Store(changes.Add(1))
}

// secretOf is a hash in a team: another team can have a key with the same one.
type secretOf struct {
	team string
	hash [32]byte
}

// seed makes the places in the index of hashes unknown to people, who choose the hashes of keys that they import.
var seed = maphash.MakeSeed()

// word places it in the index.
func (s *secretOf) word() uint64 {
	return maphash.Bytes(seed, s.hash[:]) ^ bits.RotateLeft64(maphash.String(seed, s.team), 1)
}

// record is one key.
type record struct {
	hash    [32]byte
	id      models.RawID
	owner   string
	expires int64 // Unix microseconds; 0: never
	common  uint32
	bounds  uint32 // 0: not set
	state   keyState
}

// bounds are the limits and address ranges that a key has for itself. Few keys
// do, and of those many have the same.
type bounds struct {
	limits *snapshot.Limits
	ips    []netip.Prefix
}

// keyState is a snapshot.KeyState in one byte.
type keyState uint8

const (
	removed keyState = iota
	active
	frozen
	revoked
)

var stateNames = [...]snapshot.KeyState{
	removed: "",
	active:  snapshot.KeyActive,
	frozen:  snapshot.KeyFrozen,
	revoked: snapshot.KeyRevoked,
}

// common has the fields that keys of one project, tenant, environment and type share.
type common struct {
	commonID
	keyType string
	tenant  string
	scopes  []string
}

type commonID struct{ team, project, product, tenantID, environment, typeID string }

// grace is the old secret of a rotated key.
type grace struct {
	record uint32
	ends   int64 // Unix microseconds
}

// NewTable returns an empty table.
func NewTable() *Table {
	return &Table{
		commons:   map[commonID]uint32{},
		bounds:    make([]bounds, 1),
		bounded:   map[string]uint32{},
		graces:    map[secretOf]grace{},
		olds:      map[uint32][32]byte{},
		kept:      map[uint32]contract.KeyIdentity{},
		importing: map[string]bool{},
		gone:      map[goneID]struct{}{},
	}
}

// Lookup finds the key of a team whose secret has the hash, and writes it to into. old reports whether the secret is
// the one before the last rotation. If into already holds that key and no key has changed since, Lookup returns
// immediately.
func (t *Table) Lookup(team string, hash [32]byte, into *snapshot.Key) (found, old bool) {
	version := t.version.Load() // before the look: a change during it makes the next one look again
	if into.FoundIn != 0 && into.FoundIn == version && into.Hash == hash && into.FoundFor == team {
		return true, false
	}
	if found, old = t.lookup(secretOf{team, hash}, into); found {
		into.FoundIn = version
	}
	return found, old
}

func (t *Table) lookup(of secretOf, into *snapshot.Key) (found, old bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if n, ok := t.find(&of); ok {
		t.expand(n, into)
		return true, false
	}
	if len(t.graces) == 0 {
		return false, false
	}
	if g, ok := t.graces[of]; ok {
		t.expand(g.record, into)
		return true, true
	}
	return false, false
}

func (t *Table) find(of *secretOf) (uint32, bool) {
	return t.byHash.find(of.word(), func(n uint32) bool {
		r := &t.records[n]
		return r.hash == of.hash && t.common[r.common].team == of.team
	})
}

// secret returns the current secret of a record.
func (t *Table) secret(n uint32) *secretOf {
	r := &t.records[n]
	return &secretOf{t.common[r.common].team, r.hash}
}

func (t *Table) hashWord(n uint32) uint64 { return t.secret(n).word() }

func (t *Table) findID(id models.RawID) (uint32, bool) {
	return t.byID.find(idWord(id), func(n uint32) bool { return t.records[n].id == id })
}

// idWord takes the random half of an id; the other half is a clock.
func idWord(id models.RawID) uint64 { return word(id[8:]) }

// expand writes the snapshot's form of a record. Description, prefix and the like are not kept here: no call needs
// them.
func (t *Table) expand(n uint32, key *snapshot.Key) {
	r := &t.records[n]
	c, b := &t.common[r.common], &t.bounds[r.bounds]
	*key = snapshot.Key{
		ID:          r.id.String("key"),
		ProjectID:   c.project,
		ProductID:   c.product,
		Owner:       r.owner,
		KeyType:     c.keyType,
		Scopes:      c.scopes,
		TenantID:    c.tenantID,
		Tenant:      c.tenant,
		Environment: c.environment,
		State:       stateNames[r.state],
		Limits:      b.limits,
		AllowedIPs:  b.ips,
		Hash:        r.hash,
		FoundFor:    c.team,
	}
	if r.expires != 0 {
		key.ExpiresAt = time.UnixMicro(r.expires).UTC()
	}
	if hash, ok := t.olds[n]; ok {
		old := hash // in here it is an allocation of these keys only
		key.OldHash, key.GraceEndsAt = &old, time.UnixMicro(t.graces[secretOf{c.team, old}].ends).UTC()
	}
	if len(t.kept) > 0 {
		key.KeyIdentity = t.kept[n]
	}
}

// Replace replaces the table's keys with those of another table, which must not be used any more.
func (t *Table) Replace(by *Table) {
	t.lock()
	defer t.mu.Unlock()
	t.records, t.byHash, t.byID = by.records, by.byHash, by.byID
	t.common, t.commons = by.common, by.commons
	t.bounds, t.bounded = by.bounds, by.bounded
	t.graces, t.olds, t.kept = by.graces, by.olds, by.kept
	t.importing, t.gone = by.importing, by.gone
}

// reserve allocates an empty table at once: appending would hold two copies of it while it
// grows.
func (t *Table) reserve(total int) {
	t.lock()
	defer t.mu.Unlock()
	if len(t.records) == 0 {
		t.records = make([]record, 0, total+total/16)
		t.byHash.reserve(total)
		t.byID.reserve(total)
	}
}

// LoadProject reloads a project's keys after a change to an object that all of them refer to.
func (t *Table) LoadProject(tx *models.Tx, projectID string) error {
	n, err := namesOf(tx, projectID)
	if err != nil {
		return err
	}
	if err := t.loadGone(tx, projectID); err != nil {
		return err
	}
	return tx.ScanServedKeys(projectID, func(row *models.APIKey) error { return t.put(n, row) })
}

// LoadKeys reloads some keys of any projects. It makes one query whatever their number, and two more for names that the
// table doesn't have yet, because a replica far from the database has to follow many changes per second. LoadProject
// handles renamed key types and tenants.
func (t *Table) LoadKeys(tx *models.Tx, ids ...string) error {
	rows, err := tx.KeysByID(ids)
	if err != nil {
		return err
	}
	n, err := namesOfRows(tx, t.unnamed(rows))
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, id := range ids {
		gone[id] = true
	}
	for i := range rows {
		delete(gone, rows[i].ID)
		if err := t.put(n, &rows[i]); err != nil {
			return err
		}
	}
	for id := range gone {
		if err := t.remove(id); err != nil {
			return err
		}
	}
	return nil
}

// unnamed returns the rows whose names are not here yet.
func (t *Table) unnamed(rows []models.APIKey) (out []models.APIKey) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for i := range rows {
		if _, known := t.commons[commonOf(&rows[i])]; !known {
			out = append(out, rows[i])
		}
	}
	return out
}

func (t *Table) put(n names, row *models.APIKey) error {
	id, err := models.ParseID("key", row.ID)
	if err != nil {
		return err
	}
	r := record{hash: [32]byte(row.Hash), id: id, owner: row.Owner, state: stateByte(row.State)}
	if row.ExpiresAt != nil {
		r.expires = row.ExpiresAt.UnixMicro()
	}
	t.lock()
	defer t.mu.Unlock()
	r.common, r.bounds = t.intern(n, row), t.internBounds(row)
	if was, known := t.findID(id); known {
		t.dropSecrets(was, row)
	}
	at := t.add(r)
	if row.OldHash != nil && row.GraceEndsAt != nil && row.GraceEndsAt.After(models.Now()) {
		old := [32]byte(row.OldHash)
		t.graces[secretOf{row.TeamID, old}], t.olds[at] = grace{at, row.GraceEndsAt.UnixMicro()}, old
	} else if row.OldHash != nil {
		t.addGone(secretOf{row.TeamID, [32]byte(row.OldHash)})
	}
	if !row.IsZero() {
		t.kept[at] = row.KeyIdentity
	}
	return nil
}

// add adds a record, or puts it in the place of the one with its id.
func (t *Table) add(r record) (at uint32) {
	at, known := t.findID(r.id)
	if known {
		t.forgetSecrets(at)
		t.records[at] = r
	} else {
		at = uint32(len(t.records))
		t.records = append(t.records, r)
		t.byID.add(idWord(r.id), at, func(n uint32) uint64 { return idWord(t.records[n].id) })
	}
	t.byHash.add(t.hashWord(at), at, t.hashWord)
	return at
}

// intern finds or adds the values that the row shares with others. Names that n doesn't have stay unchanged.
func (t *Table) intern(n names, row *models.APIKey) uint32 {
	id := commonOf(row)
	at, known := t.commons[id]
	keyType, hasType := n.types[row.KeyTypeID]
	tenant, hasTenant := n.tenants[row.TenantID]
	if known && (!hasType || !hasTenant) {
		return at
	}
	c := common{commonID: id, keyType: keyType.Name, tenant: tenant, scopes: keyType.Scopes}
	if known {
		t.common[at] = c
		return at
	}
	at = uint32(len(t.common))
	t.common = append(t.common, c)
	t.commons[id] = at
	return at
}

func commonOf(row *models.APIKey) commonID {
	id := commonID{row.TeamID, row.ProjectID, "", row.TenantID, row.Environment, row.KeyTypeID}
	if row.ProductID != nil {
		id.product = *row.ProductID
	}
	return id
}

// internBounds finds or adds the limits and address ranges of the row.
func (t *Table) internBounds(row *models.APIKey) uint32 {
	if row.Limits == nil && len(row.AllowedCIDRs) == 0 {
		return 0
	}
	b := bounds{limits: optionalLimits(row.Limits), ips: row.AllowedCIDRs}
	text := fmt.Sprint(b.limits, b.ips)
	at, known := t.bounded[text]
	if !known {
		at = uint32(len(t.bounds))
		t.bounds, t.bounded[text] = append(t.bounds, b), at
	}
	return at
}

func stateByte[T string | []byte](state T) keyState {
	for i, name := range stateNames {
		if string(name) == string(state) {
			return keyState(i)
		}
	}
	return revoked // a key in an unknown state is not valid
}

// Forget removes a key that can't be read at the moment, because the gateway must not admit a key whose state is
// unknown.
func (t *Table) Forget(id string) { _ = t.remove(id) } // a malformed id is never in the table

func (t *Table) remove(id string) error {
	raw, err := models.ParseID("key", id)
	if err != nil {
		return err
	}
	t.lock()
	defer t.mu.Unlock()
	if at, known := t.findID(raw); known {
		t.dropSecrets(at, nil)
		t.forget(at)
	}
	return nil
}

func (t *Table) forget(at uint32) {
	t.forgetSecrets(at)
	t.byID.remove(idWord(t.records[at].id), at)
	t.records[at] = record{}
}

// RemoveProject removes the keys of a project that no longer exists.
func (t *Table) RemoveProject(projectID string) {
	t.lock()
	defer t.mu.Unlock()
	for at := range t.records {
		if r := &t.records[at]; r.id != (models.RawID{}) && t.common[r.common].project == projectID {
			t.forget(uint32(at))
		}
	}
}

func (t *Table) forgetSecrets(at uint32) {
	t.byHash.remove(t.hashWord(at), at)
	delete(t.kept, at)
	if old, ok := t.olds[at]; ok {
		delete(t.olds, at)
		delete(t.graces, secretOf{t.common[t.records[at].common].team, old})
	}
}
