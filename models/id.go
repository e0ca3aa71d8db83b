package models

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

const crockfordLetters = "0123456789abcdefghjkmnpqrstvwxyz"

// crockford keeps the order of the bytes it encodes and has no letters that
// look alike.
var crockford = base32.NewEncoding(crockfordLetters).WithPadding(base32.NoPadding)

// RawID is the part of an ID after its kind: 48 bits of milliseconds, 12 bits of the fraction of a millisecond (RFC
// 9562, 6.2, method 3), then 68 random bits.
type RawID [16]byte

// NewID creates an ID such as prj_01h…. IDs of a kind sort by creation time, and can't be guessed.
func NewID(kind string) string {
	var id RawID
	if _, err := rand.Read(id[6:]); err != nil {
		panic(fmt.Sprintf("models: read random bytes: %v", err))
	}
	now := time.Now().UnixNano()
	const ms = int64(time.Millisecond)
	var clock [8]byte // 48 bits of milliseconds, 12 of the fraction, and 4 of the random ones
	binary.BigEndian.PutUint64(clock[:], uint64(now/ms)<<16|uint64(now%ms*4096/ms)<<4|uint64(id[7]&0x0f))
	copy(id[:], clock[:])
	return id.String(kind)
}

// String returns the ID of the kind.
func (id RawID) String(kind string) string {
	out := make([]byte, 0, 40)
	out = append(append(out, kind...), '_')
	return string(crockford.AppendEncode(out, id[:]))
}

// ParseID reverses String.
func ParseID(kind, s string) (RawID, error) { return parseRawID(kind, []byte(s)) }

// rawIDLength is how many characters of crockford a RawID has.
const rawIDLength = 26

// parseRawID is ParseID without an allocation: a start parses the ids of all keys.
func parseRawID(kind string, s []byte) (id RawID, err error) {
	n := len(kind)
	if len(s) != n+1+rawIDLength || string(s[:n]) != kind || s[n] != '_' {
		return id, fmt.Errorf("models: %q is not an id of kind %s", s, kind)
	}
	var bits, have uint32
	out := 0
	for _, c := range s[n+1:] {
		value := crockfordValues[c]
		if value == notCrockford {
			return RawID{}, fmt.Errorf("models: %q is not an id of kind %s", s, kind)
		}
		bits, have = bits<<5|uint32(value), have+5
		if have >= 8 {
			have -= 8
			id[out] = byte(bits >> have)
			out++
		}
	}
	return id, nil
}

const notCrockford = 0xff

// crockfordValues has the value of each letter of crockford.
var crockfordValues = func() (values [256]byte) {
	for i := range values {
		values[i] = notCrockford
	}
	for i := range len(crockfordLetters) {
		values[crockfordLetters[i]] = byte(i)
	}
	return values
}()

// firstID is not above the ids of the kind that are created from a time on.
func firstID(kind string, from time.Time) string {
	var id RawID
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(max(0, from.UnixMilli())))
	copy(id[:6], ms[2:])
	return id.String(kind)
}
