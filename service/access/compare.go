package access

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"unicode"

	"postern/core/contract"
)

// hidden stands for the value of a secret. The fact that it changed isn't secret.
const hidden = "***"

// Compare returns the exported fields in which two structs of the same type differ, by their names in snake_case. It
// descends into lists of structs that have a Name, as in versions/1.0.0/target, into embedded structs, whose fields it
// treats as the outer struct's, and into structs tagged audit:"each", as in requests_auth/mode. nil counts as a struct
// without fields. Byte slices, types with a Reveal method, and fields named Secret, Password or Hash show as ***.
// Identifiers and the times of a row are omitted because the entry has them, as are fields tagged audit:"-".
func Compare(before, after any) (map[string]contract.AuditChange, error) {
	changes := changeSet{}
	b, a := structOf(before), structOf(after)
	if a.IsValid() && b.IsValid() && a.Type() != b.Type() {
		return nil, fmt.Errorf("access: cannot compare a %s with a %s", b.Type(), a.Type())
	}
	return changes, changes.compare("", b, a)
}

type changeSet map[string]contract.AuditChange

func (c changeSet) compare(path string, b, a reflect.Value) error {
	shape := a
	if !a.IsValid() {
		shape = b
	}
	if !shape.IsValid() {
		return nil
	}
	for i := range shape.NumField() {
		field := shape.Type().Field(i)
		if !field.IsExported() || isImplied(field) {
			continue
		}
		name, was, is := path+snake(field.Name), fieldOf(b, i), fieldOf(a, i)
		if inner, descend := innerOf(field, path, name); descend {
			if err := c.compare(inner, was, is); err != nil {
				return err
			}
			continue
		}
		if isNamedList(field.Type) {
			if err := c.compareLists(name, was, is); err != nil {
				return err
			}
			continue
		}
		if reflect.DeepEqual(plain(was), plain(is)) {
			continue
		}
		change, err := show(was, is, isSecret(field))
		if err != nil {
			return fmt.Errorf("access: describe the change of %s: %w", name, err)
		}
		c[name] = change
	}
	return nil
}

// innerOf returns what the names of the fields of a struct in a field begin with. descend is false for a field that is
// compared as a whole.
func innerOf(field reflect.StructField, path, name string) (inner string, descend bool) {
	switch {
	case field.Anonymous && field.Type.Kind() == reflect.Struct:
		return path, true
	case field.Tag.Get("audit") == "each":
		return name + "/", true
	}
	return "", false
}

// isNamedList reports whether t is a list of structs that have a Name.
func isNamedList(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.Struct {
		return false
	}
	name, has := t.Elem().FieldByName("Name")
	return has && name.Type.Kind() == reflect.String
}

func (c changeSet) compareLists(path string, b, a reflect.Value) error {
	was, is := byName(b), byName(a)
	for from, to := range renamed(was, is) {
		c[path+"/"+to+"/name"] = contract.AuditChange{Before: from, After: to}
		was[to] = was[from]
		delete(was, from)
	}
	for name := range was {
		if _, stays := is[name]; !stays {
			is[name] = reflect.Value{}
		}
	}
	for name := range is {
		if err := c.compare(path+"/"+name+"/", was[name], is[name]); err != nil {
			return err
		}
	}
	return nil
}

// renamed maps the old names to the new ones of the elements that have another name now, by
// their ids. A name that another element had before is left out.
func renamed(was, is map[string]reflect.Value) map[string]string {
	ids, names := map[string]string{}, map[string]string{}
	for name, one := range was {
		if id := one.FieldByName("ID"); id.IsValid() && id.Kind() == reflect.String {
			ids[id.String()] = name
		}
	}
	for name, one := range is {
		id := one.FieldByName("ID")
		if !id.IsValid() || id.Kind() != reflect.String {
			continue
		}
		from := ids[id.String()]
		if _, taken := was[name]; from != "" && from != name && !taken {
			names[from] = name
		}
	}
	return names
}

func byName(list reflect.Value) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	if list.IsValid() {
		for i := range list.Len() {
			out[list.Index(i).FieldByName("Name").String()] = list.Index(i)
		}
	}
	return out
}

func structOf(v any) reflect.Value {
	value := reflect.ValueOf(v)
	for value.Kind() == reflect.Pointer {
		value = value.Elem()
	}
	if value.IsValid() && value.Kind() != reflect.Struct {
		panic(fmt.Sprintf("access: %s is not a struct", value.Type()))
	}
	return value
}

// isImplied reports whether an audit entry leaves the field out: the entry has the id and the
// time already, or the field is tagged audit:"-".
func isImplied(field reflect.StructField) bool {
	switch field.Name {
	case "ID", "CreatedAt", "UpdatedAt":
		return true
	}
	return field.Tag.Get("audit") == "-"
}

func fieldOf(of reflect.Value, i int) reflect.Value {
	if !of.IsValid() {
		return of
	}
	return of.Field(i)
}

// plain returns the value behind v's pointers, nil if it is absent or empty: the change
// from absent to empty is not recorded.
func plain(v reflect.Value) any {
	for v.IsValid() && v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	empty := !v.IsValid() || v.IsZero() || ((v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0)
	if empty {
		return nil
	}
	return v.Interface()
}

// isSecret reports whether a field holds a secret, by its type or, for text, its name.
func isSecret(field reflect.StructField) bool {
	for _, word := range []string{"Secret", "Password", "Hash"} {
		if strings.Contains(field.Name, word) {
			return true
		}
	}
	t := field.Type
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8 {
		return true
	}
	_, reveals := t.MethodByName("Reveal")
	return reveals
}

func show(was, is reflect.Value, secret bool) (contract.AuditChange, error) {
	before, err := shown(was, secret)
	if err != nil {
		return contract.AuditChange{}, err
	}
	after, err := shown(is, secret)
	return contract.AuditChange{Before: before, After: after}, err
}

// shown returns a value in its JSON form, in which the entry is stored.
func shown(v reflect.Value, secret bool) (any, error) {
	value := plain(v)
	if value == nil && v.IsValid() && (v.Kind() == reflect.Bool || v.CanInt()) {
		value = v.Interface() // false and 0 say something
	}
	if value == nil {
		return nil, nil
	}
	if secret {
		return hidden, nil
	}
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	var out any
	return out, json.Unmarshal(text, &out)
}

// storable drops what PostgreSQL takes in no text.
func storable(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

// snake turns AllowedCIDRs into allowed_cidrs.
func snake(name string) string {
	var out strings.Builder
	letters := []rune(name)
	for i, r := range letters {
		if unicode.IsUpper(r) && i > 0 {
			word := unicode.IsLower(letters[i-1]) || unicode.IsDigit(letters[i-1])
			ends := i+1 < len(letters) && unicode.IsLower(letters[i+1]) && (letters[i+1] != 's' || i+2 < len(letters))
			if word || ends {
				out.WriteByte('_')
			}
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}
