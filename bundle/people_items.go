package bundle

import (
	"fmt"

	"github.com/dustin/go-humanize/english"

	"postern/core/snapshot"
)

// peopleSubjects lists the items about users and groups: one for all users of a tenant, one for their consents if
// there are any, and one for each group and each rule of the sign-up policy. If the options leave users out, only the
// first item exists, and says so.
func (b *Build) peopleSubjects() []Subject {
	var users, groups, rules, consents []Subject
	for i := range b.Project.Tenants {
		t := &b.Project.Tenants[i]
		d := t.Directory
		if d == nil {
			continue
		}
		all := Subject{Feature: snapshot.FeatureUsers, ID: t.ID, Name: t.Name, Tenant: t}
		if !b.Options.Consumers {
			users = append(users, all)
			continue
		}
		if !b.HasPeople(*t) {
			continue
		}
		all.Name = t.Name + ": " + english.Plural(int(d.Users), "user", "")
		all.Source = At(SignupFile(t.Name), "/users")
		users = append(users, all)
		for n, g := range d.Groups {
			groups = append(groups, Subject{Feature: snapshot.FeatureUserGroup, ID: g.ID, Name: t.Name + "/" + g.Name,
				Source: At(GroupsFile(t.Name), "/groups/%d", n), Tenant: t})
		}
		rules = append(rules, signupSubjects(t)...)
		if d.Consents > 0 {
			all.Feature, all.Source = snapshot.FeatureConsents, At(SignupFile(t.Name), "/consents")
			all.Name = t.Name + ": " + english.Plural(int(d.Consents), "consent", "")
			consents = append(consents, all)
		}
	}
	return append(append(append(users, groups...), rules...), consents...)
}

// signupSubjects lists the sign-up policy of a tenant and its approvals.
func signupSubjects(t *snapshot.Tenant) []Subject {
	var out []Subject
	if t.Directory.InviteOnly {
		out = append(out, Subject{Feature: snapshot.FeatureSignupPolicy, ID: t.ID, Name: t.Name + ": invite only",
			Source: At(SignupFile(t.Name), "/invite_only"), Tenant: t})
	}
	for n, a := range t.Directory.Approvals {
		out = append(out, Subject{Feature: snapshot.FeatureSignupPolicy, ID: a.ID,
			Name:   fmt.Sprintf("%s: %s %s", t.Name, a.Kind, a.Value),
			Source: At(SignupFile(t.Name), "/approvals/%d", n), Tenant: t})
	}
	return out
}

// teamSubjects lists the items about the project's team: webhooks, and the caps of an unclaimed workspace.
func (b *Build) teamSubjects() []Subject {
	var out []Subject
	for n, w := range b.Project.Webhooks {
		out = append(out, Subject{Feature: snapshot.FeatureWebhook, ID: w.ID, Name: w.Host,
			Source: At(configFile, "/webhooks/%d", n)})
	}
	if !b.Project.ExpiresAt.IsZero() {
		out = append(out, Subject{Feature: snapshot.FeatureUnclaimed, ID: b.Project.ID, Name: b.Project.Name,
			Source: At(configFile, "/expires_at")})
	}
	return out
}
