package contract

import (
	"encoding/json"
	"reflect"
)

// Optional is a member of a change for which null and an absent member mean different things. Its JSON tag has
// omitzero.
type Optional[T any] struct {
	Sent  bool
	Value *T // nil: null
}

// Sent returns the Optional of a value.
func Sent[T any](v T) Optional[T] { return Optional[T]{Sent: true, Value: &v} }

// Null returns the Optional of null.
func Null[T any]() Optional[T] { return Optional[T]{Sent: true} }

// Or returns the value, or other if it is null.
func (o Optional[T]) Or(other T) T {
	if o.Value == nil {
		return other
	}
	return *o.Value
}

// Elem returns the type of the value.
func (Optional[T]) Elem() reflect.Type { return reflect.TypeFor[T]() }

// UnmarshalJSON implements json.Unmarshaler.
func (o *Optional[T]) UnmarshalJSON(raw []byte) error {
	o.Sent = true
	return json.Unmarshal(raw, &o.Value)
}

// MarshalJSON implements json.Marshaler.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Value) }
