package openfga

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"postern/bundle/jsonfile"
)

// typeDef is a type of the model.
type typeDef struct {
	name      string
	relations []relation
}

// relation is a relation of a type: users that tuples name, those who have other relations as well, or
// those who have a relation to another object.
type relation struct {
	name   string
	direct []subject // of tuples
	or     string    // another relation of the object that implies this one
	and    []string  // relations of the object that all have to hold
	of     [2]string // a relation to the object that the second one names
}

// subject is a kind of user that a tuple may have.
type subject struct {
	Type     string    `json:"type"`
	Relation string    `json:"relation,omitempty"`
	Wildcard *struct{} `json:"wildcard,omitempty"`
}

func (s subject) String() string {
	switch {
	case s.Wildcard != nil:
		return s.Type + ":*"
	case s.Relation != "":
		return s.Type + "#" + s.Relation
	}
	return s.Type
}

// model returns the types of the model. OpenFGA accepts at most 100 types, and a version can have more rules. So all
// rules are objects of one type, with a relation for each scope of the rule that has most.
func (s Source) model() []typeDef {
	user, everyone := subject{Type: "user"}, subject{Type: "user", Wildcard: &struct{}{}}
	holder := subject{Type: "scope", Relation: "holder"}
	member, admin := subject{Type: "group", Relation: "member"}, subject{Type: "group", Relation: "admin"}
	app := subject{Type: "app", Relation: keys}
	keyless := subject{Type: "call", Relation: "by"}
	rule := typeDef{name: "rule", relations: []relation{
		{name: "version", direct: []subject{{Type: "version"}}},
		{name: "admitted", of: [2]string{admits, "version"}},
		{name: "group", direct: []subject{everyone, member, admin}},
		{name: owned, direct: []subject{everyone, {Type: "object", Relation: owner}}},
		{name: readScope, direct: []subject{everyone, holder, keyless}},
		{name: writeScope, direct: []subject{everyone, holder, keyless}},
	}}
	both := []string{"admitted", "group", owned}
	for n := range s.slots() {
		rule.relations = append(rule.relations, relation{name: slot(n), direct: []subject{everyone, holder}})
		both = append(both, slot(n))
	}
	rule.relations = append(rule.relations,
		relation{name: canRead, and: append([]string{readScope}, both...)},
		relation{name: canWrite, and: append([]string{writeScope}, both...)})
	// OpenFGA's own tools print relations in this order.
	slices.SortFunc(rule.relations, func(a, b relation) int { return cmp.Compare(a.name, b.name) })
	return []typeDef{
		{name: "user"},
		{name: "call", relations: []relation{{name: "by", direct: []subject{user}}}},
		{name: "scope", relations: []relation{{name: "holder", direct: []subject{user, holder}}}},
		{name: "app", relations: []relation{{name: keys, direct: []subject{user}}}},
		{name: "group", relations: []relation{
			{name: "admin", direct: []subject{user, app}},
			{name: "member", direct: []subject{user, app, member}, or: "admin"},
		}},
		{name: "object", relations: []relation{{name: owner, direct: []subject{user}}}},
		{name: "version", relations: []relation{{name: admits, direct: []subject{user}}}},
		rule,
	}
}

// WriteDSL writes the model in OpenFGA's language.
func (s Source) WriteDSL(w io.Writer) error {
	var out strings.Builder
	out.WriteString("model\n  schema 1.1\n")
	for _, t := range s.model() {
		fmt.Fprintf(&out, "\ntype %s\n", t.name)
		if len(t.relations) > 0 {
			out.WriteString("  relations\n")
		}
		for _, r := range t.relations {
			fmt.Fprintf(&out, "    define %s: %s\n", r.name, r.expression())
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (r relation) expression() string {
	switch {
	case r.of[0] != "":
		return r.of[0] + " from " + r.of[1]
	case len(r.and) > 0:
		return strings.Join(r.and, " and ")
	}
	names := make([]string, len(r.direct))
	for i, one := range r.direct {
		names[i] = one.String()
	}
	text := "[" + strings.Join(names, ", ") + "]"
	if r.or != "" {
		text += " or " + r.or
	}
	return text
}

type modelDoc struct {
	SchemaVersion string    `json:"schema_version"`
	Types         []typeDoc `json:"type_definitions"`
}

type typeDoc struct {
	Type      string                `json:"type"`
	Relations map[string]usersetDoc `json:"relations,omitempty"`
	Metadata  *metadataDoc          `json:"metadata,omitempty"`
}

type metadataDoc struct {
	Relations map[string]directDoc `json:"relations"`
}

type directDoc struct {
	Types []subject `json:"directly_related_user_types,omitempty"`
}

type usersetDoc struct {
	This           *struct{}      `json:"this,omitempty"`
	Computed       *relationDoc   `json:"computedUserset,omitempty"`
	TupleToUserset *tupleToDoc    `json:"tupleToUserset,omitempty"`
	Union          *operationsDoc `json:"union,omitempty"`
	Intersection   *operationsDoc `json:"intersection,omitempty"`
}

type relationDoc struct {
	Relation string `json:"relation"`
}

type tupleToDoc struct {
	Tupleset relationDoc `json:"tupleset"`
	Computed relationDoc `json:"computedUserset"`
}

type operationsDoc struct {
	Child []usersetDoc `json:"child"`
}

// WriteJSON writes the model in the form that OpenFGA's API accepts.
func (s Source) WriteJSON(w io.Writer) error {
	doc := modelDoc{SchemaVersion: "1.1"}
	for _, t := range s.model() {
		one := typeDoc{Type: t.name}
		if len(t.relations) > 0 {
			one.Relations, one.Metadata = map[string]usersetDoc{}, &metadataDoc{Relations: map[string]directDoc{}}
		}
		for _, r := range t.relations {
			one.Relations[r.name] = r.userset()
			one.Metadata.Relations[r.name] = directDoc{r.direct}
		}
		doc.Types = append(doc.Types, one)
	}
	return jsonfile.Write(w, doc)
}

func (r relation) userset() usersetDoc {
	computed := func(name string) usersetDoc { return usersetDoc{Computed: &relationDoc{name}} }
	switch {
	case r.of[0] != "":
		return usersetDoc{TupleToUserset: &tupleToDoc{Tupleset: relationDoc{r.of[1]}, Computed: relationDoc{r.of[0]}}}
	case len(r.and) > 0:
		all := &operationsDoc{}
		for _, name := range r.and {
			all.Child = append(all.Child, computed(name))
		}
		return usersetDoc{Intersection: all}
	case r.or != "":
		return usersetDoc{Union: &operationsDoc{Child: []usersetDoc{{This: &struct{}{}}, computed(r.or)}}}
	}
	return usersetDoc{This: &struct{}{}}
}
