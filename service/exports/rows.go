package exports

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"time"

	"postern/core/snapshot"
)

// codec writes and reads rows of a type in the form of a spool: their fields one after another, texts and lists behind
// their length, and a flag before what a pointer points to.
type codec[T any] struct{ value coder }

var (
	keyRows  = codecOf[snapshot.Key]()
	userRows = codecOf[snapshot.User]()
)

func codecOf[T any]() codec[T] { return codec[T]{coderOf(reflect.TypeFor[T]())} }

func (c codec[T]) put(to []byte, row *T) []byte { return c.value.put(to, reflect.ValueOf(row).Elem()) }

func (c codec[T]) take(from *fields, row *T) { c.value.take(from, reflect.ValueOf(row).Elem()) }

// coder writes and reads the values of one type. They are addressable, and empty before they are read.
type coder struct {
	put  func(to []byte, v reflect.Value) []byte
	take func(from *fields, v reflect.Value)
}

func coderOf(t reflect.Type) coder {
	switch t {
	case reflect.TypeFor[time.Time]():
		return coderBy(putTime, (*fields).time)
	case reflect.TypeFor[netip.Prefix]():
		return coderBy(putPrefix, (*fields).prefix)
	}
	switch t.Kind() {
	case reflect.String:
		return coder{
			func(to []byte, v reflect.Value) []byte { return putText(to, v.String()) },
			func(from *fields, v reflect.Value) { v.SetString(from.text()) },
		}
	case reflect.Bool:
		return coder{
			func(to []byte, v reflect.Value) []byte { return putFlag(to, v.Bool()) },
			func(from *fields, v reflect.Value) { v.SetBool(from.flag()) },
		}
	case reflect.Int64:
		return coder{
			func(to []byte, v reflect.Value) []byte { return binary.AppendVarint(to, v.Int()) },
			func(from *fields, v reflect.Value) { v.SetInt(from.number()) },
		}
	case reflect.Uint64:
		return coder{
			func(to []byte, v reflect.Value) []byte { return binary.AppendUvarint(to, v.Uint()) },
			func(from *fields, v reflect.Value) { v.SetUint(from.count()) },
		}
	case reflect.Pointer:
		return pointerCoder(t)
	case reflect.Array:
		return arrayCoder(t)
	case reflect.Slice:
		return listCoder(t)
	case reflect.Struct:
		return structCoder(t)
	}
	panic(fmt.Sprintf("exports: a spool has no form for %s", t))
}

// coderBy returns a coder of a type for which there are functions.
func coderBy[T any](put func([]byte, T) []byte, take func(*fields) T) coder {
	return coder{
		func(to []byte, v reflect.Value) []byte { return put(to, *v.Addr().Interface().(*T)) },
		func(from *fields, v reflect.Value) { *v.Addr().Interface().(*T) = take(from) },
	}
}

func pointerCoder(t reflect.Type) coder {
	of := coderOf(t.Elem())
	return coder{
		func(to []byte, v reflect.Value) []byte {
			if to = putFlag(to, !v.IsNil()); v.IsNil() {
				return to
			}
			return of.put(to, v.Elem())
		},
		func(from *fields, v reflect.Value) {
			if from.flag() {
				v.Set(reflect.New(t.Elem()))
				of.take(from, v.Elem())
			}
		},
	}
}

func arrayCoder(t reflect.Type) coder {
	if t.Elem().Kind() == reflect.Uint8 {
		return coder{
			func(to []byte, v reflect.Value) []byte { return append(to, v.Bytes()...) },
			func(from *fields, v reflect.Value) { copy(v.Bytes(), from.bytes(uint64(t.Len()))) },
		}
	}
	of := coderOf(t.Elem())
	return coder{
		func(to []byte, v reflect.Value) []byte { return putElements(to, v, of) },
		func(from *fields, v reflect.Value) { takeElements(from, v, of) },
	}
}

// listCoder reads an empty list as nil.
func listCoder(t reflect.Type) coder {
	of := coderOf(t.Elem())
	return coder{
		func(to []byte, v reflect.Value) []byte {
			return putElements(binary.AppendUvarint(to, uint64(v.Len())), v, of)
		},
		func(from *fields, v reflect.Value) {
			switch n := from.count(); {
			case n > uint64(len(from.rest)):
				from.err = errShortRow
			case n > 0:
				v.Set(reflect.MakeSlice(t, int(n), int(n)))
				takeElements(from, v, of)
			}
		},
	}
}

func putElements(to []byte, v reflect.Value, of coder) []byte {
	for i := range v.Len() {
		to = of.put(to, v.Index(i))
	}
	return to
}

func takeElements(from *fields, v reflect.Value, of coder) {
	for i := range v.Len() {
		of.take(from, v.Index(i))
	}
}

func structCoder(t reflect.Type) coder {
	members := make([]coder, t.NumField())
	for i := range members {
		members[i] = coderOf(t.Field(i).Type)
	}
	return coder{
		func(to []byte, v reflect.Value) []byte {
			for i, member := range members {
				to = member.put(to, v.Field(i))
			}
			return to
		},
		func(from *fields, v reflect.Value) {
			for i, member := range members {
				member.take(from, v.Field(i))
			}
		},
	}
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

func putPrefix(to []byte, p netip.Prefix) []byte { return putText(to, p.String()) }

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

func (f *fields) time() time.Time {
	seconds := f.number()
	return time.Unix(seconds, int64(f.count())).UTC()
}

func (f *fields) prefix() netip.Prefix {
	p, err := netip.ParsePrefix(f.text())
	if err != nil {
		f.err = err
	}
	return p
}
