package models

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"time"
)

// crockford keeps the order of the bytes it encodes and has no letters that
// look alike.
var crockford = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID makes an id such as prj_01h…: 48 bits of milliseconds, then 80 random
// bits, so that ids of one kind sort by creation and cannot be guessed.
func NewID(kind string) string {
	var b [16]byte
	if _, err := rand.Read(b[6:]); err != nil {
		panic(fmt.Sprintf("models: no randomness: %v", err))
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(time.Now().UnixMilli()))
	copy(b[:6], ms[2:])
	return kind + "_" + crockford.EncodeToString(b[:])
}
