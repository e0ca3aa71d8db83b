package protocol_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/handlers/scim/protocol"
)

func TestFilters(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]protocol.Term{
		"":                                       nil,
		`userName eq "Ana@Example.com"`:          {{Attribute: "username", Value: "Ana@Example.com"}},
		`USERNAME Eq "a \"b\" c"`:                {{Attribute: "username", Value: `a "b" c`}},
		protocol.UserSchema + `:userName eq "x"`: {{Attribute: "username", Value: "x"}},
		`externalId eq "00u1"`:                   {{Attribute: "externalid", Value: "00u1"}},
		`userName eq "x" and active eq True`: {{
			Attribute: "username",
			Value:     "x",
		}, {Attribute: "active", Value: "true"}},
		`id eq "g1" AND members eq "a and b"`: {{
			Attribute: "id",
			Value:     "g1",
		}, {Attribute: "members", Value: "a and b"}},
		`emails[type eq "work"].value eq "a@b"`: {{Attribute: "emails.value", Value: "a@b"}},
		`(userName eq "x") and (active eq true)`: {{
			Attribute: "username",
			Value:     "x",
		}, {Attribute: "active", Value: "true"}},
		`emails[type eq "work" and value eq "a@b"]`: {{Attribute: "emails.value", Value: "a@b"}},
		`emails[type eq "home"].value eq "a@b"`: {{Attribute: "emails.value"}, { // which no user has
			Attribute: "emails.value",
			Value:     "a@b",
		}},
		`members[value eq "usr_A"]`: {{Attribute: "members.value", Value: "usr_A"}},
	} {
		if got, err := protocol.ParseFilter(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{
		`userName`,
		`userName co "x"`,
		`userName eq x`,
		`userName eq "x`,
		`not (userName eq "x")`,
		`userName eq "x" or active eq true`,
		`userName eq "x" and`,
		`userName eq "x"and active eq true`,
		`userName eq 1`,
		`userName eq null`,
		strings.Repeat(`userName eq "x" and `, 10) + `userName eq "x"`,
		`userName eq 'x'`,
		`userName pr`,
		`emails[type eq "work" or primary eq true].value eq "x"`,
		`emails[kind eq "work"].value eq "x"`,
		`emails[type gt "a"].value gt "x"`,
		`urn:example:User:userName eq "x"`,
		strings.Repeat("(", 11) + `userName eq "x"` + strings.Repeat(")", 11),
		strings.Repeat("(", 500_000),
	} {
		_, err := protocol.ParseFilter(text)
		refusedAs(t, text, err, "invalidFilter")
	}
}

func refusedAs(t *testing.T, what string, err error, kind string) {
	t.Helper()
	if refusal, ok := errors.AsType[*protocol.Error](err); !ok || refusal.Type != kind {
		t.Errorf("%s: %v, want %s", what, err, kind)
	}
}

// The requests of Okta and Entra ID, each in its own spelling.
func TestUser_patches(t *testing.T) {
	t.Parallel()
	joan := protocol.Name{Formatted: "Joan Ark", GivenName: "Joan", FamilyName: "Ark"}
	for body, want := range map[string]struct {
		active      string
		name, email string
	}{
		`{"Operations":[{"op":"replace","value":{"active":false}}]}`:        {active: "false"},
		`{"Operations":[{"op":"Replace","path":"active","value":"False"}]}`: {active: "false"},
		`{"operations":[{"op":"Add","path":"active","value":"True"}]}`:      {active: "true"},
		`{"Operations":[{"op":"Replace","path":"emails[type eq \"work\"].value",` +
			`"value":"b@example.com"}]}`: {email: "b@example.com"},
		`{"Operations":[{"op":"replace","path":"emails","value":[{"value":"x@example.com"},` +
			`{"value":"b@example.com","primary":true}]}]}`: {email: "b@example.com"},
		`{"Operations":[{"op":"Replace","value":{"name.givenName":"Bea",` +
			`"urn:ietf:params:scim:schemas:core:2.0:User:name.familyName":"Berg"}}]}`: {name: "Bea Berg"},
		`{"Operations":[{"op":"Replace","path":"name.givenName","value":"Bea"}]}`: {name: "Bea Ark"},
		`{"Operations":[{"op":"Replace","path":"displayName","value":"Bea B."},{"op":"add","path":"title",` +
			`"value":"Boss"}]}`: {name: "Bea B."},
	} {
		got, err := protocol.ParseUserPatch([]byte(body), "")
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		active, name, email := "", "", ""
		if got.Active != nil {
			active = map[bool]string{true: "true", false: "false"}[*got.Active]
		}
		if said := got.Name(joan); said != joan {
			name = said.Formatted
		}
		if got.Email != nil {
			email = *got.Email
		}
		if active != want.active || name != want.name || email != want.email {
			t.Errorf("%s: active %q, name %q, email %q", body, active, name, email)
		}
	}
	for body, kind := range map[string]string{
		`[]`:                "invalidSyntax",
		`{"Operations":[]}`: "invalidSyntax",
		`{"Operations":[{"op":"move","path":"active"}]}`:                      "invalidSyntax",
		`{"Operations":[{"op":"remove"}]}`:                                    "noTarget",
		`{"Operations":[{"op":"remove","path":"userName"}]}`:                  "mutability",
		`{"Operations":[{"op":"replace","path":"active"}]}`:                   "invalidValue",
		`{"Operations":[{"op":"replace","path":"active","value":"perhaps"}]}`: "invalidValue",
	} {
		_, err := protocol.ParseUserPatch([]byte(body), "")
		refusedAs(t, body, err, kind)
	}
}

// The parts of a name are those that were sent, and never words of a text.
func TestUserChange_name(t *testing.T) {
	t.Parallel()
	patch := func(path, value string) string {
		return `{"Operations":[{"op":"replace","path":"` + path + `","value":"` + value + `"}]}`
	}
	const both = `{"Operations":[{"op":"replace","value":{"name":{"givenName":"Bea","familyName":"van den Berg"}}}]}`
	named := func(formatted, given, family string) protocol.Name {
		return protocol.Name{Formatted: formatted, GivenName: given, FamilyName: family}
	}
	juan := named("Juan de la Cruz", "Juan", "de la Cruz")
	shown := named("de la Cruz, Juan", "Juan", "de la Cruz")
	text := named("Juan de la Cruz", "", "")
	for name, tt := range map[string]struct {
		before protocol.Name
		body   string
		want   protocol.Name
	}{
		"a part, and the text follows": {
			juan, patch("name.givenName", "Ana Luz"), named("Ana Luz de la Cruz", "Ana Luz", "de la Cruz"),
		},
		"a part, next to another text": {
			shown, patch("name.givenName", "Ana"), named("de la Cruz, Juan", "Ana", "de la Cruz"),
		},
		"the text alone":                 {juan, patch("displayName", "Johnny"), named("Johnny", "Juan", "de la Cruz")},
		"both parts, of which none were": {text, both, named("Bea van den Berg", "Bea", "van den Berg")},
		"one part, of which none were": {
			text, patch("name.familyName", "Cruz"), named("Juan de la Cruz", "", "Cruz"),
		},
		"name.formatted alone": {text, patch("name.formatted", "Bea"), named("Bea", "", "")},
		"without the parts":    {juan, `{"Operations":[{"op":"remove","path":"name"}]}`, protocol.Name{}},
		"without the text": {
			shown, `{"Operations":[{"op":"remove","path":"displayName"}]}`, named("", "Juan", "de la Cruz"),
		},
		"nothing of the name": {shown, `{"Operations":[{"op":"replace","path":"active","value":true}]}`, shown},
	} {
		got, err := protocol.ParseUserPatch([]byte(tt.body), "")
		if err != nil || got.Name(tt.before) != tt.want {
			t.Errorf("%s: %+v, %v, want %+v", name, got.Name(tt.before), err, tt.want)
		}
	}
	put, err := protocol.ParseUser([]byte(`{"userName":"x","name":{"familyName":"de la Cruz"}}`))
	want := protocol.Name{Formatted: "de la Cruz", FamilyName: "de la Cruz"}
	if err != nil || put.Name(juan) != want {
		t.Errorf("a PUT: %+v, %v, want %+v", put.Name(juan), err, want)
	}
}

func TestGroup_patches(t *testing.T) {
	t.Parallel()
	name := "Engineering"
	for body, want := range map[string]protocol.GroupChange{
		`{"Operations":[{"op":"Add","path":"members","value":[{"value":"usr_A"},` +
			`{"value":"usr_b"}]}]}`: {Add: []string{"usr_A", "usr_b"}},
		`{"Operations":[{"op":"Remove","path":"members","value":[{"value":"usr_a"}]}]}`: {Remove: []string{"usr_a"}},
		`{"Operations":[{"op":"remove","path":"members[value eq \"usr_A\"]"}]}`:         {Remove: []string{"usr_A"}},
		`{"Operations":[{"op":"remove","path":"members"}]}`:                             {Clear: true},
		`{"Operations":[{"op":"remove","path":"members","value":[]}]}`:                  {},
		`{"Operations":[{"op":"remove","path":"members","value":null}]}`:                {},
		`{"Operations":[{"op":"replace","path":"members","value":[]}]}`:                 {Clear: true},
		`{"Operations":[{"op":"replace","path":"members","value":[{"value":"usr_a"}]}]}`: {
			Clear: true,
			Add:   []string{"usr_a"},
		},
		`{"Operations":[{"op":"replace","value":{"id":"grp_1","displayName":"Engineering"}}]}`: {DisplayName: &name},
		`{"Operations":[{"op":"add","path":"members","value":{"value":"usr_a"}},` +
			`{"op":"remove","path":"members[value eq \"usr_a\"]"}]}`: {
			Remove: []string{"usr_a"},
		},
	} {
		if got, err := protocol.ParseGroupPatch([]byte(body), nil); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s: %v %s", body, err, cmp.Diff(want, got))
		}
	}
}
