package protocol

import (
	"slices"
	"strings"
)

// kind describes the attributes of a type of resource.
type kind struct {
	name   string
	schema string               // in lowercase
	kept   map[string]Attribute // those in /Schemas, by name in lowercase
	unkept []string             // others of the standard's schema (RFC 7643, 4), and parts of those that are kept
}

var (
	lowerUserSchema  = strings.ToLower(UserSchema)
	lowerGroupSchema = strings.ToLower(GroupSchema)

	userKind = kindOf("User", UserSchema,
		"nickname", "profileurl", "title", "usertype", "preferredlanguage", "locale", "timezone", "password",
		"phonenumbers", "ims", "photos", "addresses", "entitlements", "roles", "x509certificates",
		"name.middlename", "name.honorificprefix", "name.honorificsuffix", "emails.display", "emails.$ref")
	groupKind = kindOf("Group", GroupSchema)

	// extensions are the schemas of which nothing is kept, with their attributes (RFC 7643, 4.3).
	extensions = map[string][]string{
		"urn:ietf:params:scim:schemas:extension:enterprise:2.0:user": {
			"employeenumber", "costcenter", "organization", "division", "department", "manager",
		},
	}
)

func kindOf(name, schema string, unkept ...string) kind {
	out := kind{name: name, schema: strings.ToLower(schema), kept: map[string]Attribute{}, unkept: unkept}
	for _, s := range Schemas("") {
		for _, a := range s.Attributes {
			if s.ID == schema {
				out.kept[strings.ToLower(a.Name)] = a
			}
		}
	}
	return out
}

// partOf returns a part of a complex attribute. Parts that are not kept have no value.
func partOf(attribute Attribute, name string) (Attribute, bool) {
	for _, part := range attribute.SubAttributes {
		if strings.EqualFold(part.Name, name) {
			return part, true
		}
	}
	if slices.Contains(userKind.unkept, strings.ToLower(attribute.Name)+"."+name) {
		return Attribute{Name: name, Type: "string"}, true
	}
	return Attribute{}, false
}

// target is the attribute that the path of an operation selects.
type target int

const (
	stored    target = iota
	unstored         // an attribute of the standard that is not kept
	serverSet        // an attribute that the server alone sets
)

// find returns the attribute at a path. It refuses a path without one.
func (k kind) find(p path) (target, error) {
	unknown := invalid("invalidPath", quoted(p)+" isn't an attribute of a "+k.name+".")
	if of, ok := extensions[p.schema]; ok && k.name == "User" {
		if p.attribute != "" && !slices.Contains(of, p.attribute) {
			return 0, unknown
		}
		return unstored, nil
	}
	if p.schema != "" && p.schema != k.schema {
		return 0, invalid("invalidPath", "A "+k.name+" doesn't have the schema in the path.")
	}
	switch p.attribute {
	case "id", "meta", "schemas":
		return serverSet, nil
	}
	attribute, ok := k.kept[p.attribute]
	switch {
	case !ok && slices.Contains(k.unkept, p.attribute):
		return unstored, nil
	case !ok:
		return 0, unknown
	case attribute.Mutability == "readOnly":
		return serverSet, nil
	}
	if p.filter != nil {
		if !attribute.MultiValued {
			return 0, invalid("invalidPath", attribute.Name+" doesn't have several values to choose from.")
		}
		if err := p.filter.check(attribute); err != nil {
			return 0, err
		}
	}
	if p.part == "" {
		return stored, nil
	}
	if _, ok := partOf(attribute, p.part); !ok {
		return 0, unknown
	}
	if slices.Contains(k.unkept, p.attribute+"."+p.part) {
		return unstored, nil
	}
	return stored, nil
}

// quoted returns a path for a refusal; it can be as long as a body.
func quoted(p path) string {
	name := p.String()
	return `"` + name[:min(len(name), 100)] + `"`
}
