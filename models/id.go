package models

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// crockford keeps the order of the bytes it encodes and has no letters that
// look alike.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// RawID is what follows the kind in an id: 48 bits of milliseconds, then 80
// random bits.
type RawID [16]byte

// NewID creates an id such as prj_01h…: ids of one kind sort by creation and
// cannot be guessed.
func NewID(kind string) string {
	var id RawID
	if _, err := rand.Read(id[6:]); err != nil {
		panic(fmt.Sprintf("models: no randomness: %v", err))
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(id[:6], ms[2:])
	return id.String(kind)
}

// String is the id of the kind.
func (id RawID) String(kind string) string {
	out := make([]byte, 0, 40)
	out = append(append(out, kind...), '_')
	return string(crockford.AppendEncode(out, id[:]))
}

// ParseID undoes String.
func ParseID(kind, s string) (RawID, error) {
	var id RawID
	rest, ok := strings.CutPrefix(s, kind+"_")
	if !ok || crockford.DecodedLen(len(rest)) != len(id) {
		return id, fmt.Errorf("models: %q is no id of kind %s", s, kind)
	}
	if _, err := crockford.Decode(id[:], []byte(rest)); err != nil {
		return id, fmt.Errorf("models: %q is no id of kind %s: %w", s, kind, err)
	}
	return id, nil
}
