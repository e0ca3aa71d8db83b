package exports

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"time"

	"postern/core/snapshot"
)

// codec writes and reads rows of a type in the form of a spool: the fields one after another,
// texts and lists behind their length.
type codec[T any] struct {
	put  func(to []byte, row *T) []byte
	take func(from *fields, row *T)
}

var (
	keyRows  = codec[snapshot.Key]{putKey, takeKey}
	userRows = codec[snapshot.User]{putUser, takeUser}
)

func putKey(to []byte, k *snapshot.Key) []byte {
	for _, text := range [...]string{
		k.ID, k.ProjectID, k.Owner, k.KeyType, k.TenantID, k.Tenant, k.ProductID, k.Environment, k.Description,
		string(k.State), k.Prefix, k.Last4,
	} {
		to = putText(to, text)
	}
	to = putList(to, k.Scopes, putText)
	to = putList(to, k.AllowedIPs, func(to []byte, p netip.Prefix) []byte { return putText(to, p.String()) })
	to = putFlag(to, k.OwnerFrozen)
	to = append(to, k.Hash[:]...)
	to = putFlag(to, k.OldHash != nil)
	if k.OldHash != nil {
		to = append(to, k.OldHash[:]...)
	}
	to = putFlag(to, k.Limits != nil)
	if k.Limits != nil {
		for _, n := range k.Limits {
			to = binary.AppendVarint(to, n)
		}
	}
	for _, at := range [...]time.Time{k.GraceEndsAt, k.ExpiresAt, k.CreatedAt} {
		to = putTime(to, at)
	}
	return binary.AppendUvarint(to, k.FoundIn)
}

func takeKey(from *fields, k *snapshot.Key) {
	var state string
	for _, text := range [...]*string{
		&k.ID, &k.ProjectID, &k.Owner, &k.KeyType, &k.TenantID, &k.Tenant, &k.ProductID, &k.Environment, &k.Description,
		&state, &k.Prefix, &k.Last4,
	} {
		*text = from.text()
	}
	k.State = snapshot.KeyState(state)
	k.Scopes = takeList(from, func(s *string) { *s = from.text() })
	k.AllowedIPs = takeList(from, func(p *netip.Prefix) {
		var err error
		if *p, err = netip.ParsePrefix(from.text()); err != nil {
			from.err = err
		}
	})
	k.OwnerFrozen = from.flag()
	from.hash(&k.Hash)
	if from.flag() {
		k.OldHash = new([32]byte)
		from.hash(k.OldHash)
	}
	if from.flag() {
		k.Limits = new(snapshot.Limits)
		for i := range k.Limits {
			k.Limits[i] = from.number()
		}
	}
	for _, at := range [...]*time.Time{&k.GraceEndsAt, &k.ExpiresAt, &k.CreatedAt} {
		*at = from.time()
	}
	k.FoundIn = from.count()
}

func putUser(to []byte, u *snapshot.User) []byte {
	for _, text := range [...]string{u.ID, u.Email, u.Name, u.Profile, u.UserName, u.ExternalID, u.State} {
		to = putText(to, text)
	}
	to = putFlag(to, u.EmailVerified)
	to = putTime(putTime(to, u.CreatedAt), u.UpdatedAt)
	to = putList(to, u.Identities, func(to []byte, i snapshot.Identity) []byte {
		return putTime(putText(putText(putText(to, i.Issuer), i.Subject), i.ProviderID), i.CreatedAt)
	})
	to = putList(to, u.Memberships, func(to []byte, m snapshot.Membership) []byte {
		return putTime(putFlag(putText(putText(to, m.GroupID), m.Role), m.Mapped), m.CreatedAt)
	})
	return putList(to, u.Consents, func(to []byte, c snapshot.Consent) []byte {
		return putTime(putTime(putText(putText(to, c.ClientID), c.Scope), c.CreatedAt), c.UpdatedAt)
	})
}

func takeUser(from *fields, u *snapshot.User) {
	for _, text := range [...]*string{&u.ID, &u.Email, &u.Name, &u.Profile, &u.UserName, &u.ExternalID, &u.State} {
		*text = from.text()
	}
	u.EmailVerified = from.flag()
	u.CreatedAt, u.UpdatedAt = from.time(), from.time()
	u.Identities = takeList(from, func(i *snapshot.Identity) {
		i.Issuer, i.Subject, i.ProviderID, i.CreatedAt = from.text(), from.text(), from.text(), from.time()
	})
	u.Memberships = takeList(from, func(m *snapshot.Membership) {
		m.GroupID, m.Role, m.Mapped, m.CreatedAt = from.text(), from.text(), from.flag(), from.time()
	})
	u.Consents = takeList(from, func(c *snapshot.Consent) {
		c.ClientID, c.Scope, c.CreatedAt, c.UpdatedAt = from.text(), from.text(), from.time(), from.time()
	})
}

func putText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

func putFlag(to []byte, flag bool) []byte {
	if flag {
		return append(to, 1)
	}
	return append(to, 0)
}

func putTime(to []byte, at time.Time) []byte {
	return binary.AppendUvarint(binary.AppendVarint(to, at.Unix()), uint64(at.Nanosecond()))
}

func putList[E any](to []byte, list []E, put func([]byte, E) []byte) []byte {
	to = binary.AppendUvarint(to, uint64(len(list)))
	for _, e := range list {
		to = put(to, e)
	}
	return to
}

// fields reads a row. After an error it returns zero values.
type fields struct {
	rest string // texts are parts of it
	err  error
}

var errShortRow = errors.New("exports: a spooled row is too short")

// bytes returns the next n bytes.
func (f *fields) bytes(n uint64) string {
	if n > uint64(len(f.rest)) {
		f.rest, f.err = "", errShortRow
		return ""
	}
	out := f.rest[:n]
	f.rest = f.rest[n:]
	return out
}

func (f *fields) count() uint64 {
	var n uint64
	for shift := 0; ; shift += 7 {
		c := f.bytes(1)
		if c == "" || shift > 63 {
			f.err = errShortRow
			return 0
		}
		n |= uint64(c[0]&0x7f) << shift
		if c[0] < 0x80 {
			return n
		}
	}
}

// number reads what binary.AppendVarint writes.
func (f *fields) number() int64 {
	n := f.count()
	return int64(n>>1) ^ -int64(n&1)
}

func (f *fields) text() string { return f.bytes(f.count()) }

func (f *fields) flag() bool { return f.bytes(1) == "\x01" }

func (f *fields) hash(to *[32]byte) { copy(to[:], f.bytes(32)) }

func (f *fields) time() time.Time {
	seconds := f.number()
	return time.Unix(seconds, int64(f.count())).UTC()
}

// takeList returns nil for an empty list.
func takeList[E any](from *fields, take func(*E)) []E {
	n := from.count()
	if n == 0 || n > uint64(len(from.rest)) {
		if n > 0 {
			from.err = errShortRow
		}
		return nil
	}
	list := make([]E, n)
	for i := range list {
		take(&list[i])
	}
	return list
}
