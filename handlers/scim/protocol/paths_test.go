package protocol_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"postern/handlers/scim/protocol"
)

const (
	userURN       = protocol.UserSchema
	groupURN      = protocol.GroupSchema
	enterpriseURN = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
)

// patchOf returns the body of a PATCH with one operation.
func patchOf(t *testing.T, op, path, value string) []byte {
	t.Helper()
	one := map[string]any{"op": op}
	if path != "" {
		one["path"] = path
	}
	if value != "" {
		one["value"] = json.RawMessage(value)
	}
	body, err := json.Marshal(map[string]any{"Operations": []any{one}})
	if err != nil {
		t.Fatal(err)
	}
	return body
}

// outcome says what a patch of a user does: the new values, what is not stored, or the type of the refusal.
func outcome(t *testing.T, c protocol.UserChange, err error) string {
	t.Helper()
	if err != nil {
		refusal, ok := errors.AsType[*protocol.Error](err)
		if !ok {
			t.Fatal(err)
		}
		return refusal.Type
	}
	var out []string
	for name, of := range map[string]*string{
		"email": c.Email, "userName": c.UserName, "externalId": c.ExternalID, "name": nameIn(c),
	} {
		if of != nil {
			out = append(out, name+"="+*of)
		}
	}
	if c.Active != nil {
		out = append(out, fmt.Sprintf("active=%t", *c.Active))
	}
	if c.Unkept != nil {
		out = append(out, "without effect: "+strings.Join(c.Unkept, " "))
	}
	if out == nil {
		return "nothing"
	}
	return strings.Join(out, ", ")
}

// nameIn returns the text of the name in a change, nil for none.
func nameIn(c protocol.UserChange) *string {
	joan := protocol.Name{Formatted: "Joan Ark", GivenName: "Joan", FamilyName: "Ark"}
	if after := c.Name(joan); after != joan {
		return &after.Formatted
	}
	return nil
}

// userPaths are patches of a user whose address is old@example.com, and what each of them does.
var userPaths = []struct{ op, path, value, want string }{
	{"replace", `emails[type eq "work" and primary eq true].value`, `"b@x"`, "email=b@x"},
	{"replace", `EMAILS[Type EQ "Work" AND Primary eq True].Value`, `"b@x"`, "email=b@x"},
	{"replace", `emails[not (type eq "home")].value`, `"b@x"`, "email=b@x"},
	{"replace", `emails[(type eq "home" or type eq "work") and value sw "old@"].value`, `"b@x"`, "email=b@x"},
	{"replace", `emails[value co "ld@ex" and value ew ".com" and value gt "a" and value pr]`, `{"value":"b@x"}`,
		"email=b@x"},
	{"replace", `emails[type ne "home"]`, `"b@x"`, "email=b@x"},
	{"replace", `emails[value eq "old@example.com"].primary`, "true", "nothing"},
	{"replace", `emails[type eq "work"]`, `{"primary":true}`, "nothing"},
	{"replace", `emails.value`, `"b@x"`, "email=b@x"},
	{"replace", userURN + `:emails[type eq "work"].value`, `"b@x"`, "email=b@x"},
	{"add", strings.ToUpper(userURN) + ":userName", `"Bea"`, "userName=Bea"},
	{"remove", `emails[type eq "work"].value`, "", "email="},
	{"remove", `emails[value eq "old@example.com"]`, "", "email="},
	{"add", "title", `"Boss"`, "without effect: title"},
	{"add", `phoneNumbers[type eq "mobile"].value`, `"1"`, "without effect: phonenumbers[…].value"},
	{"add", "name.middleName", `"M"`, "without effect: name.middlename"},
	{"add", enterpriseURN + ":department", `"d"`, "without effect: department"},
	{"add", enterpriseURN + ":manager.value", `"d"`, "without effect: manager.value"},
	{"replace", "", `{"displayName":"B","locale":"de","id":"usr_2","groups":[]}`, "name=B, without effect: locale"},
	{"replace", "", `{"emails":[{"value":"a@x","type":"home"},{"value":"b@x","type":"work"}]}`,
		"email=b@x, without effect: all emails but one"},

	{"replace", `emails[type eq "home"].value`, `"b@x"`, "noTarget"},
	{"remove", `emails[value eq "OLD@Example.com"]`, "", "email="},
	{"remove", `emails[value eq "old@example.com" and type eq "Wor\u212A"]`, "", "noTarget"},
	{"remove", `emails[value eq "other@example.com"]`, "", "noTarget"},
	{"replace", `emails[type eq 'work'].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[type eq work].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[type eq "work" and].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[type is "work"].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[kind eq "work"].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[primary gt true].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[emails[type eq "work"]].value`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[type eq "work"`, `"b@x"`, "invalidFilter"},
	{"replace", `emails[type eq "work"].value.x`, `"b@x"`, "invalidPath"},
	{"replace", `emails[type eq "work"].address`, `"b@x"`, "invalidPath"},
	{"replace", `emails[type eq "work"] value`, `"b@x"`, "invalidPath"},
	{"replace", `phoneNumbers[type eq 'work'].value`, `"b@x"`, "invalidFilter"},
	{"replace", `userName[type eq "work"]`, `"b@x"`, "invalidPath"},
	{"replace", "userName.first", `"x"`, "invalidPath"},
	{"replace", "'userName'", `"x"`, "invalidPath"},
	{"replace", "usrName", `"x"`, "invalidPath"},
	{"replace", groupURN + ":displayName", `"x"`, "invalidPath"},
	{"replace", "urn:example:User:displayName", `"x"`, "invalidPath"},
	{"replace", enterpriseURN + ":rank", `"x"`, "invalidPath"},
	{"replace", "", `{"usrName":"x"}`, "invalidPath"},
	{"replace", "", `{"userName":"x","USERNAME":"y"}`, "invalidSyntax"},
	{"replace", "", `{"name":{"first":"x"}}`, "invalidPath"},
	{"replace", "", `null`, "invalidValue"},
	{"replace", "emails", `[{"value":"x","kind":"work"}]`, "invalidValue"},
	{"replace", "id", `"usr_2"`, "mutability"},
	{"remove", "groups", "", "mutability"},
	{"replace", `emails[type eq "work"].type`, `"home"`, "mutability"},
	{"remove", "emails", `[{"value":"other@example.com"}]`, "invalidValue"},
}

// Each patch of a user changes what its path says, says that it has no effect, or is
// refused: RFC 7644, 3.5.2.
func TestUserPatches_paths(t *testing.T) {
	t.Parallel()
	for _, tt := range userPaths {
		got, err := protocol.ParseUserPatch(patchOf(t, tt.op, tt.path, tt.value), "old@example.com")
		if said := outcome(t, got, err); said != tt.want {
			t.Errorf("%s %s %s: %s (%v), want %s", tt.op, tt.path, tt.value, said, err, tt.want)
		}
	}
	for _, body := range []string{
		`{"Operations":[{"op":"replace","path":"active","value":false,"filter":"x"}]}`,
		`{"Operations":[{"op":"replace","path":"active","value":false}],"dryRun":true}`,
		`{"schemas":["` + userURN + `"],"Operations":[{"op":"replace","path":"active","value":false}]}`,
	} {
		_, err := protocol.ParseUserPatch([]byte(body), "")
		refusedAs(t, body, err, "invalidSyntax")
	}
}

func TestGroupPatches_paths(t *testing.T) {
	t.Parallel()
	members := func() ([]protocol.Reference, error) {
		return []protocol.Reference{
			{Value: "usr_A", Display: "ana@example.com"},
			{Value: "usr_b", Display: "bob@example.com"},
			{Value: "grp_c"},
		}, nil
	}
	for _, tt := range []struct {
		op, path string
		removed  string // or the type of the refusal
	}{
		{"remove", groupURN + `:members[value eq "usr_A"]`, "usr_A"},
		{"remove", strings.ToLower(groupURN) + `:MEMBERS[VALUE EQ "usr_A"]`, "usr_A"},
		{"remove", `members[value eq "usr_A" or value eq "usr_gone"]`, "usr_A usr_gone"},
		{"remove", `members[value eq "usr_A" and type eq "User"]`, "usr_A"},
		{"remove", `members[type eq "Group"]`, "grp_c"},
		{"remove", `members[not (value eq "usr_A")]`, "usr_b grp_c"},
		{"remove", `members[display sw "BOB@"]`, "usr_b"},
		{"remove", `members[value eq "usr_a" and type eq "User"]`, "noTarget"}, // ids are case-exact
		{"remove", `members[value eq 'usr_A']`, "invalidFilter"},
		{"remove", `members[value eq "usr_A"`, "invalidFilter"},
		{"remove", `members[user eq "usr_A"]`, "invalidFilter"},
		{"remove", `members[value eq "usr_A"].display`, "mutability"},
		{"remove", userURN + `:members[value eq "usr_A"]`, "invalidPath"},
		{"remove", `member[value eq "usr_A"]`, "invalidPath"},
		{"add", `members[value eq "usr_A"]`, "invalidPath"},
		{"add", "owners", "invalidPath"},
	} {
		value := `[{"value":"usr_b"}]`
		if tt.op == "remove" {
			value = ""
		}
		got, err := protocol.ParseGroupPatch(patchOf(t, tt.op, tt.path, value), members)
		said := strings.Join(got.Remove, " ")
		if refusal, ok := errors.AsType[*protocol.Error](err); ok {
			said = refusal.Type
		}
		if said != tt.removed || got.Clear || got.Add != nil {
			t.Errorf("%s %s: %s (%+v, %v), want %s", tt.op, tt.path, said, got, err, tt.removed)
		}
	}
	body := []byte(`{"Operations":[{"op":"replace","path":"members","value":[{"value":"usr_d"},{"value":"grp_e"}]},` +
		`{"op":"remove","path":"members[type eq \"Group\"]"}]}`)
	got, err := protocol.ParseGroupPatch(body, members)
	want := protocol.GroupChange{Clear: true, Add: []string{"usr_d"}, Remove: []string{"grp_e"}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("a filter after a replacement: %v %s", err, diff)
	}
}

// The filters of a request are counted, because each compares every member.
func TestGroupPatches_steps(t *testing.T) {
	t.Parallel()
	members := make([]protocol.Reference, 10_000)
	for i := range members {
		members[i].Value = fmt.Sprintf("usr_%d", i)
	}
	load := func() ([]protocol.Reference, error) { return members, nil }
	for n, want := range map[int]string{50: "", 51: "tooMany"} { // 50 operations compare 997,550 times
		var operations []string
		for i := range n {
			operations = append(operations,
				fmt.Sprintf(`{"op":"remove","path":"members[type eq \"User\" and value eq \"usr_%d\"]"}`, i))
		}
		body := `{"Operations":[` + strings.Join(operations, ",") + `]}`
		_, err := protocol.ParseGroupPatch([]byte(body), load)
		refusal, _ := errors.AsType[*protocol.Error](err)
		if (want == "") != (err == nil) || refusal != nil && refusal.Type != want {
			t.Errorf("%d operations: %v, want %q", n, err, want)
		}
	}
}
