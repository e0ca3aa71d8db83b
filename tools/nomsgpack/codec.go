// Package codec takes the place of github.com/ugorji/go/codec, which Gin needs only for MessagePack. Postern doesn't
// use MessagePack, and the tag nomsgpack leaves it out of releases. But `go run` doesn't get that tag, and compiling
// the real package takes a twelfth of the time of a first build.
package codec

import (
	"errors"
	"io"
)

var errLeftOut = errors.New("MessagePack isn't part of this program")

// MsgpackHandle has the options of the format.
type MsgpackHandle struct{}

// Encoder refuses to encode.
type Encoder struct{}

// NewEncoder returns an Encoder.
func NewEncoder(io.Writer, *MsgpackHandle) Encoder { return Encoder{} }

// Encode returns an error.
func (Encoder) Encode(any) error { return errLeftOut }

// Decoder refuses to decode.
type Decoder struct{}

// NewDecoder returns a Decoder.
func NewDecoder(io.Reader, *MsgpackHandle) Decoder { return Decoder{} }

// Decode returns an error.
func (Decoder) Decode(any) error { return errLeftOut }
