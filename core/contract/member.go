package contract

import (
	"reflect"
	"slices"
	"strings"
)

// Place is the part of a request that a member is in.
type Place int

// The places, in the order of a request.
const (
	InPath Place = iota + 1
	InQuery
	InHeader
	InBody
)

// Member is one member of a request, as its tags describe it.
type Member struct {
	Place    Place
	Name     string // in its place
	Within   string // path of the enclosing member, such as upstream.timeouts; "" for the body itself
	Index    []int  // of the field, for reflect.Value.FieldByIndex
	Type     reflect.Type
	Required bool
	Doc      string
	Help     string // of the flag; "" if Doc describes it too
	Enum     []string
	Flag     string // of the command, without dashes; "" for none
	Form     string // of the flag's value, "" for that of its type
	IDOf     string // kind of thing whose ID it is, if commands take its name or email address too
	IDExcept string // a value in place of an ID of IDOf that isn't a name, "" for none
	Null     string // the flag's value for null, "" for none
	Zero     bool   // its zero value is sent too, because its default is a different value
	Slug     bool   // pages turn any text into a name; see the function Slug
}

// Argument is its name as an argument of a command, such as KEY_TYPE; "" for a member of an object, which has a flag.
func (m Member) Argument() string {
	if m.Within != "" {
		return ""
	}
	return strings.ToUpper(m.Name)
}

// Elem is the type of its value: what a pointer points to, or what an Optional has.
func (m Member) Elem() reflect.Type {
	if optional, ok := reflect.Zero(m.Type).Interface().(interface{ Elem() reflect.Type }); ok {
		return optional.Elem()
	}
	if m.Type.Kind() == reflect.Pointer {
		return m.Type.Elem()
	}
	return m.Type
}

// MembersOf returns the members of a request in their order: of the path, the query and the header, and those
// of its Body.
func MembersOf(request reflect.Type) []Member { return members(request, nil, 0) }

// MembersOfBody returns the members of a body.
func MembersOfBody(body reflect.Type) []Member { return members(body, nil, InBody) }

// MembersWithin returns the names of the members of an object in an operation's body that have their own flags. Fields
// of forms have the same names.
func MembersWithin(op Described, object string) (names []string) {
	for _, m := range op.Members() {
		if m.Place == InBody && m.Within == object && m.Flag != "" {
			names = append(names, m.Name)
		}
	}
	return names
}

func members(of reflect.Type, index []int, place Place) (out []Member) {
	for i := range of.NumField() {
		field := of.Field(i)
		at := slices.Concat(index, []int{i})
		switch {
		case field.Anonymous:
			out = append(out, members(field.Type, at, place)...)
		case field.Name == "Body" && place == 0:
			body := field.Type
			if body.Kind() == reflect.Pointer { // it may be left out
				body = body.Elem()
			}
			out = append(out, members(body, at, InBody)...)
		default:
			m, ok := memberOf(field, place)
			if ok && m.Form == "each" {
				for _, each := range members(field.Type, at, place) {
					each.Within = strings.TrimSuffix(m.Name+"."+each.Within, ".")
					out = append(out, each)
				}
			} else if ok {
				m.Index = at
				out = append(out, m)
			}
		}
	}
	return out
}

// memberOf returns the member that a field is, and false for one that is sent nowhere.
func memberOf(field reflect.StructField, place Place) (Member, bool) {
	m := Member{Place: place, Type: field.Type, Doc: field.Tag.Get("doc"), Help: field.Tag.Get("help"),
		Slug: field.Tag.Get("slug") == "true"}
	m.IDOf, m.IDExcept, _ = strings.Cut(field.Tag.Get("id"), ",")
	if place == InBody {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		m.Name, m.Required = name, !strings.Contains(options, "omit") // omitempty or omitzero
	}
	for tag, in := range map[string]Place{"path": InPath, "query": InQuery, "header": InHeader} {
		if name, _, _ := strings.Cut(field.Tag.Get(tag), ","); name != "" && place == 0 { // as in group_by,explode
			m.Place, m.Name, m.Required = in, name, in == InPath
		}
	}
	least := field.Tag.Get("minimum")
	m.Zero = field.Tag.Get("default") != "" && (least == "" || least == "0") && field.Type.Kind() != reflect.String
	if enum := field.Tag.Get("enum"); enum != "" {
		m.Enum = strings.Split(enum, ",")
	}
	m.Flag, m.Form, _ = strings.Cut(field.Tag.Get("flag"), ",")
	m.Form, m.Null, _ = strings.Cut(m.Form, ",")
	switch {
	case m.Flag == "-" || m.Place == InPath:
		m.Flag = ""
	case m.Flag == "":
		m.Flag = strings.ReplaceAll(m.Name, "_", "-")
	}
	return m, m.Place != 0 && m.Name != "" && m.Name != "-"
}
