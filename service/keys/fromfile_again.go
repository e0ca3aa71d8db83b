package keys

import (
	"hash/maphash"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/core/keyfile"
	"postern/models"
	"postern/platform/fault"
)

// prior has the data of a key for which another row follows.
type prior struct {
	print uint64 // of its attributes, without its state and its end
	fixed uint32 // of those that no update changes
	state keyState
	ends  int64 // Unix microseconds; 0: never
}

func (b *batchOf) priorOf(key *models.APIKey) prior {
	out := prior{print: attributesOf(key), fixed: uint32(fixedOf(key)), state: stateByte(key.State)}
	if key.ExpiresAt != nil {
		out.ends = key.ExpiresAt.UnixMicro()
	}
	return out
}

// callable reports whether the gateway lets calls with the key through, now or later.
func (p prior) callable(now time.Time) bool {
	return p.state == active && (p.ends == 0 || p.ends > now.UnixMicro())
}

// endsBefore reports whether a key ends earlier than another.
func (p prior) endsBefore(other prior) bool {
	return p.ends != 0 && (other.ends == 0 || p.ends < other.ends)
}

// stateText describes the state of a key.
func (p prior) stateText(now time.Time) string {
	switch {
	case p.state != active || p.ends == 0:
		return string(stateNames[p.state])
	case !p.callable(now):
		return contract.KeyExpired
	}
	return contract.KeyActive + " until " + time.UnixMicro(p.ends).UTC().Format(time.RFC3339)
}

// again decides on a row whose key exists, in the project or in the file before.
func (b *batchOf) again(in *keyfile.Row, key models.APIKey, mark uint64, had prior, where string) []fault.Field {
	was, stored := b.existing[in.SHA256]
	before, row := was, b.priorOf(&key)
	at, here := b.at[in.SHA256]
	if here {
		before = b.created[at]
	} else if i := b.updatedAt(was.ID); i >= 0 {
		before = b.updated[i].after
	}
	if b.in.Update && (here || stored) {
		key = changed(before, key, in, b.now)
	}
	now := b.priorOf(&key)
	_, inFile := b.seen[mark]
	inFile = inFile || b.createdNow(&before)
	sameEnd := now.ends == had.ends
	if in.Relative && !inFile { // the end is another time in each reading of the file
		sameEnd = now.callable(b.now) || !had.callable(b.now)
	}
	switch {
	case now.print == had.print && now.state == had.state && sameEnd:
		b.seen[mark] = had
		b.count(in, contract.KeyRowUnchanged, before.ID)
		return nil
	case !b.in.Update:
		return refused("exists", where+", with different attributes. "+b.tighten(in, before, had, row, inFile)+
			"To change it, import with update (--update). Otherwise, leave the row out.")
	case had.state == revoked:
		return refused("exists", where+", and it is revoked. An import can't change that. Leave the row out.")
	case !had.callable(b.now) && now.callable(b.now):
		return refused("exists", where+", and it is frozen or expired. An import can't change that. Change the key "+
			"yourself, or leave the row out.")
	case now.fixed != had.fixed:
		return refused("exists", where+", with a different owner, key type, tenant, product or environment. An import "+
			"can't change these. "+b.tighten(in, before, had, row, inFile)+
			"Leave the row out, or revoke the key and create a new key.")
	}
	b.seen[mark] = now
	b.count(in, contract.KeyRowUpdated, before.ID)
	b.replace(in, key)
	return nil
}

// replace writes a key that exists, or that this batch creates, in another way.
func (b *batchOf) replace(in *keyfile.Row, key models.APIKey) {
	was, stored := b.existing[in.SHA256]
	if at, here := b.at[in.SHA256]; here {
		b.created[at] = key
	} else if i := b.updatedAt(was.ID); i >= 0 {
		b.updated[i].after = key
	} else if stored {
		b.updated = append(b.updated, change{was, key})
	}
}

// createdNow reports whether an earlier batch of the import has written a key.
func (b *batchOf) createdNow(key *models.APIKey) bool { return !key.UpdatedAt.Before(b.began) }

// tighten applies the state and the end of a refused row to a key that the same file has before, if they are stricter.
// Which of the rows is right isn't known, and no import leaves a key more open than its source does. A key that the
// import didn't create stays unchanged. It returns a sentence about what the key is now, with a space, or "".
func (b *batchOf) tighten(in *keyfile.Row, key models.APIKey, had, row prior, inFile bool) string {
	if row.state <= had.state && !row.endsBefore(had) {
		return ""
	}
	if !inFile {
		return "The key remains " + had.stateText(b.now) + ", although the row is stricter: " + row.stateText(b.now) +
			". "
	}
	if row.state > had.state {
		had.state = row.state
	}
	if row.endsBefore(had) {
		had.ends = row.ends
	}
	key.State, key.UpdatedAt = string(stateNames[had.state]), b.now
	if had.ends != 0 {
		ends := time.UnixMicro(had.ends).UTC()
		key.ExpiresAt = &ends
	}
	if had.state == revoked {
		key.OldHash, key.GraceEndsAt = nil, nil
	}
	b.seen[(&secretOf{b.project.TeamID, in.SHA256}).word()] = had
	b.replace(in, key)
	return "The stricter state and the earlier expiration time of the two rows apply, so the key is " +
		had.stateText(b.now) + ". "
}

// updatedAt returns the index of an updated key; -1 if it isn't updated.
func (b *batchOf) updatedAt(id string) int {
	return slices.IndexFunc(b.updated, func(c change) bool { return c.after.ID == id })
}

// changed is a key with the attributes that a row has. The others stay, so that a file without a column for them never
// removes a restriction, and so does an end that is another time in each reading of the file.
func changed(was, row models.APIKey, in *keyfile.Row, now time.Time) models.APIKey {
	out := was
	out.UpdatedAt, out.State = now, row.State
	out.Owner, out.Environment, out.ProjectID = row.Owner, row.Environment, row.ProjectID // refused if they differ
	out.TenantID, out.KeyTypeID, out.ProductID = row.TenantID, row.KeyTypeID, row.ProductID
	if row.Description != "" {
		out.Description = row.Description
	}
	if row.Limits != nil {
		out.Limits = row.Limits
	}
	if len(row.AllowedCIDRs) > 0 {
		out.AllowedCIDRs = row.AllowedCIDRs
	}
	if row.ExpiresAt != nil && (!in.Relative || was.ExpiresAt == nil || row.ExpiresAt.Before(*was.ExpiresAt)) {
		out.ExpiresAt = row.ExpiresAt
	}
	if row.CredentialID != nil {
		out.CredentialID = row.CredentialID
	}
	if row.Consumer != nil {
		out.Consumer = row.Consumer
	}
	if row.Metadata != "" {
		out.Metadata = row.Metadata
	}
	if out.State == contract.KeyRevoked {
		out.OldHash, out.GraceEndsAt = nil, nil
	}
	return out
}

// attributesOf returns a number that is the same for keys with the same attributes, apart from their state and their
// end. When a key was created isn't one.
func attributesOf(key *models.APIKey) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	part := func(texts ...string) {
		for _, text := range texts {
			h.WriteString(text)
			h.WriteByte(0)
		}
	}
	part(key.Description, string(key.Metadata))
	if key.CredentialID != nil {
		part("credential", *key.CredentialID)
	}
	if key.Consumer != nil {
		part("consumer", key.Consumer.ID, key.Consumer.Username, key.Consumer.CustomID)
	}
	if key.Limits != nil {
		part("limits")
		for _, window := range slices.Sorted(maps.Keys(*key.Limits)) {
			part(window, strconv.FormatInt((*key.Limits)[window], 10))
		}
	}
	for _, network := range key.AllowedCIDRs {
		part("range", network.String())
	}
	return h.Sum64() ^ fixedOf(key)
}

// fixedOf is attributesOf for the attributes that no update changes.
func fixedOf(key *models.APIKey) uint64 {
	product := ""
	if key.ProductID != nil {
		product = *key.ProductID
	}
	return maphash.String(seed, strings.Join([]string{
		key.Owner, key.Environment, key.ProjectID, key.TenantID, key.KeyTypeID, product,
	}, "\x00"))
}
