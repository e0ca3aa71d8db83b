package directory

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/snapshot"
	"postern/platform/ascii"
	"postern/platform/fault"
	"postern/platform/federation"
)

// maxImported bounds a text of an imported user that sign-ins do not bound otherwise, in
// bytes.
const maxImported = 2000

// CheckImported checks the groups and sign-up policy of a tenant that were read from a zip by
// the rules that new ones are held to. pointer is where the files of its people stand.
func CheckImported(pointer string, d *snapshot.Directory) []fault.Field {
	known := map[string]*snapshot.Group{}
	names := map[string]bool{}
	for i := range d.Groups {
		known[d.Groups[i].ID] = &d.Groups[i]
	}
	circular := inCircles(known)
	var wrong []fault.Field
	for i, g := range d.Groups {
		at := fmt.Sprintf("%s/groups.json/groups/%d", pointer, i)
		if !groupName.MatchString(g.Name) || names[g.Name] {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/name",
				Code:    "invalid_name",
				Detail: "Use 1 to 63 lowercase letters, digits, dots, hyphens or underscores. Start with a letter or " +
					"digit. Use each name only once.",
			})
		}
		names[g.Name] = true
		wrong = append(wrong, checkText(at+"/display_name", g.DisplayName)...)
		wrong = append(wrong, checkText(at+"/external_id", g.ExternalID)...)
		if !areGroups(known, g.Parents) || circular[g.ID] {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/parents",
				Code:    "invalid_parents",
				Detail:  "List each group of the tenant at most once. A group can't contain itself.",
			})
		}
		wrong = append(wrong, checkImportedOwners(at, g.Owners)...)
	}
	return append(wrong, checkImportedApprovals(pointer, d, known)...)
}

func checkImportedOwners(pointer string, owners []snapshot.GroupOwner) (wrong []fault.Field) {
	if len(owners) > maxOwners {
		return []fault.Field{{
			Pointer: pointer + "/owners",
			Code:    "too_many_owners",
			Detail:  fmt.Sprintf("A group can have at most %s app owners.", humanize.Comma(maxOwners)),
		}}
	}
	seen := map[string]bool{}
	for i, o := range owners {
		at := fmt.Sprintf("%s/owners/%d", pointer, i)
		wrong = append(wrong, checkOwner(at, o.Owner, o.Role)...)
		if seen[o.Owner] {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/owner", Code: "duplicate", Detail: "List each owner at most once.",
			})
		}
		seen[o.Owner] = true
	}
	return wrong
}

func areGroups(known map[string]*snapshot.Group, ids []string) bool {
	seen := map[string]bool{}
	for _, id := range ids {
		if known[id] == nil || seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

// inCircles returns the ids of groups that are nested in themselves, and of those between two circles. It takes away
// groups without a parent until none is left, and then those without a child, so that each nesting is looked at twice.
func inCircles(known map[string]*snapshot.Group) map[string]bool {
	up, down := map[string][]string{}, map[string][]string{}
	for id, group := range known {
		for _, parent := range group.Parents {
			if known[parent] != nil {
				up[id], down[parent] = append(up[id], parent), append(down[parent], id)
			}
		}
	}
	left := map[string]bool{}
	for id := range known {
		left[id] = true
	}
	takeAway(left, up, down)
	takeAway(left, down, up)
	return left
}

// takeAway removes the ids from left that wait for none that is left, and then those that waited for them alone.
func takeAway(left map[string]bool, waits, waited map[string][]string) {
	open := map[string]int{}
	var next []string
	for id := range left {
		for _, other := range waits[id] {
			if left[other] {
				open[id]++
			}
		}
		if open[id] == 0 {
			next = append(next, id)
		}
	}
	for len(next) > 0 {
		id := next[len(next)-1]
		next = next[:len(next)-1]
		delete(left, id)
		for _, other := range waited[id] {
			if open[other]--; open[other] == 0 && left[other] {
				next = append(next, other)
			}
		}
	}
}

func checkImportedApprovals(
	pointer string, d *snapshot.Directory, known map[string]*snapshot.Group,
) (wrong []fault.Field) {
	if len(d.Approvals) > maxApprovals {
		return []fault.Field{{
			Pointer: pointer + "/signup.json/approvals",
			Code:    "too_many_approvals",
			Detail:  fmt.Sprintf("A tenant can have at most %s approvals.", humanize.Comma(maxApprovals)),
		}}
	}
	for i, a := range d.Approvals {
		at := fmt.Sprintf("%s/signup.json/approvals/%d", pointer, i)
		in := contract.NewApproval{Kind: a.Kind, Value: a.Value}
		fields := checkApproval(&in)
		if len(fields) == 0 && in.Kind != a.Kind { // which a new one may leave out
			fields = []fault.Field{{Pointer: "/kind", Code: "invalid_kind", Detail: "Use email or domain."}}
		}
		for _, field := range fields {
			field.Pointer = at + field.Pointer
			wrong = append(wrong, field)
		}
		if len(fields) == 0 && in.Value != a.Value {
			wrong = append(wrong, fault.Field{Pointer: at + "/value", Code: "invalid_value", Detail: "Use lowercase."})
		}
		if !areGroups(known, withoutUnknown(known, a.Groups)) {
			wrong = append(wrong, fault.Field{
				Pointer: at + "/groups", Code: "duplicate", Detail: "List each group at most once.",
			})
		}
	}
	return wrong
}

// withoutUnknown returns the ids of groups that exist: an approval outlives its groups.
func withoutUnknown(known map[string]*snapshot.Group, ids []string) []string {
	return slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return known[id] == nil })
}

// CheckImportedUser checks a user that was read from a zip, of a tenant with these app
// clients. pointer is where the files of the tenant's people stand.
func CheckImportedUser(pointer string, u *snapshot.User, clients map[string]bool) []fault.Field {
	var wrong []fault.Field
	refuse := func(ok bool, member, code, detail string) {
		if !ok {
			at := pointer + "/users.jsonl/" + u.ID + member
			wrong = append(wrong, fault.Field{Pointer: at, Code: code, Detail: detail})
		}
	}
	oneLine := func(text string, most int) bool {
		return len(text) <= most && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
	}
	refuse(oneLine(u.Email, 254) && ascii.Lower(u.Email) == u.Email, "/email", "invalid_email",
		"Use at most 254 bytes in lowercase.")
	refuse(u.Profile == federation.ParseProfile(u.Profile).JSON(), "/profile", "invalid_profile",
		"Use only claims from the OpenID Connect profile scope, except name, in the format that exports use. Use at "+
			"most 8 KB.")
	refuse(len(checkText("", u.Name)) == 0, "/name", "invalid_text", "Use at most 200 characters on one line.")
	refuse(len(checkText("", u.UserName)) == 0 && ascii.Lower(u.UserName) == u.UserName, "/user_name",
		"invalid_text", "Use at most 200 characters on one line, in lowercase.")
	refuse(len(checkText("", u.ExternalID)) == 0, "/external_id", "invalid_text",
		"Use at most 200 characters on one line.")
	refuse(u.State == Active || u.State == Frozen || u.State == Invited, "/state", "invalid_state",
		"Use active, frozen or invited.")
	for i, one := range u.Identities {
		refuse(one.Issuer != "" && oneLine(one.Issuer, maxImported) && one.Subject != "" && oneLine(one.Subject, 255) &&
			oneLine(one.ProviderID, 100), fmt.Sprintf("/identities/%d", i), "invalid_identity",
			"Use an issuer of at most 2,000 bytes and a subject of at most 255 bytes.")
	}
	for i, m := range u.Memberships {
		refuse(m.Role == RoleMember || m.Role == RoleAdmin, fmt.Sprintf("/groups/%d/role", i), "invalid_role",
			"Use member or admin.")
	}
	for i, c := range u.Consents {
		refuse(clients[c.ClientID] && oneLine(c.Scope, maxImported), fmt.Sprintf("/consents/%d", i), "invalid_consent",
			"Use one of the tenant's app clients, and scopes of at most 2,000 bytes.")
	}
	return wrong
}
