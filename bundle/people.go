package bundle

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"postern/bundle/jsonfile"
	"postern/core/contract"
	"postern/core/snapshot"
)

// signupDoc has how many users a tenant has, and its sign-up policy.
type signupDoc struct {
	Users      int64                     `json:"users"`
	Consents   int64                     `json:"consents"`
	InviteOnly bool                      `json:"invite_only"`
	Approvals  []contract.ApprovalRecord `json:"approvals"`
}

// groupsDoc has the groups of a tenant.
type groupsDoc struct {
	Groups []groupDoc `json:"groups"`
}

// groupDoc is a group in the form of the API, with the IDs of its parents and the apps in it.
type groupDoc struct {
	contract.GroupRecord
	Parents []string        `json:"parents"`
	Owners  []groupOwnerDoc `json:"owners,omitempty"`
}

type groupOwnerDoc struct {
	Owner     string `json:"owner"`
	Role      string `json:"role"`
	CreatedAt string `json:"created_at"`
}

// userDoc is a line of users.jsonl: a user as the API has them, with all that belongs to them.
type userDoc struct {
	contract.UserRecord
	Profile    json.RawMessage `json:"profile,omitempty"`
	Identities []identityDoc   `json:"identities"`
	Groups     []membershipDoc `json:"groups"`
	Consents   []consentDoc    `json:"consents"`
}

type identityDoc struct {
	Issuer     string  `json:"issuer"`
	Subject    string  `json:"subject"`
	ProviderID *string `json:"provider_id"`
	CreatedAt  string  `json:"created_at"`
}

type membershipDoc struct {
	ID        string `json:"id"`
	Role      string `json:"role"`
	Mapped    bool   `json:"mapped"`
	CreatedAt string `json:"created_at"`
}

type consentDoc struct {
	ClientID  string `json:"client_id"`
	Scope     string `json:"scope"`
	CreatedAt string `json:"created_at"`
	UpdatedAt string `json:"updated_at"`
}

// UsersFile returns the name of the file of a tenant's users.
func UsersFile(tenant string) string { return tenantFolder(tenant) + "users/users.jsonl" }

// GroupsFile returns the name of the file of a tenant's groups.
func GroupsFile(tenant string) string { return tenantFolder(tenant) + "users/groups.json" }

// SignupFile returns the name of the file with the sign-up policy of a tenant.
func SignupFile(tenant string) string { return tenantFolder(tenant) + "users/signup.json" }

// HasPeople reports whether this export has files about the users and groups of a tenant.
func (b *Build) HasPeople(t snapshot.Tenant) bool {
	d := t.Directory
	return b.Options.Consumers && d != nil &&
		(d.Users > 0 || d.InviteOnly || len(d.Approvals) > 0 || len(d.Groups) > 0)
}

// people returns the files about the users and groups of all tenants.
func (b *Build) people() []Part {
	var parts []Part
	required := b.groupsOfRules()
	for _, t := range b.Project.Tenants {
		if !b.HasPeople(t) {
			continue
		}
		parts = append(parts,
			document(SignupFile(t.Name), signupFileDoc, signupDocOf(t.Directory)),
			document(GroupsFile(t.Name), groupsFileDoc, groupsDocOf(t.Directory)),
			b.userRows(t))
		parts = append(parts, b.scim(t, required)...)
	}
	return parts
}

func signupDocOf(d *snapshot.Directory) signupDoc {
	doc := signupDoc{
		Users: d.Users, Consents: d.Consents, InviteOnly: d.InviteOnly, Approvals: []contract.ApprovalRecord{},
	}
	for _, a := range d.Approvals {
		doc.Approvals = append(doc.Approvals, contract.ApprovalRecord{
			ID: a.ID, Kind: a.Kind, Value: a.Value, Groups: list(a.Groups), CreatedAt: a.CreatedAt.UTC(),
		})
	}
	return doc
}

func groupsDocOf(d *snapshot.Directory) groupsDoc {
	doc := groupsDoc{Groups: []groupDoc{}}
	for _, g := range d.Groups {
		var owners []groupOwnerDoc
		for _, o := range g.Owners {
			owners = append(owners, groupOwnerDoc{o.Owner, o.Role, stamp(o.CreatedAt)})
		}
		doc.Groups = append(doc.Groups, groupDoc{
			GroupRecord: contract.GroupRecord{
				ID:          g.ID,
				Name:        g.Name,
				DisplayName: g.DisplayName,
				ExternalID:  g.ExternalID,
				CreatedAt:   g.CreatedAt.UTC(),
				UpdatedAt:   g.UpdatedAt.UTC(),
			},
			Parents: list(g.Parents),
			Owners:  owners,
		})
	}
	return doc
}

func (b *Build) userRows(t snapshot.Tenant) Part {
	name := UsersFile(t.Name)
	return Part{Name: name, Doc: usersDoc, Write: func(ctx context.Context, w io.Writer) error {
		out := jsonfile.NewStream(w)
		for u, err := range b.UsersOf(ctx, t, name) {
			if err != nil {
				return err
			}
			out.Value(userDocOf(u))
			out.Raw("\n")
		}
		return out.Close()
	}}
}

func userDocOf(u *snapshot.User) userDoc {
	doc := userDoc{
		UserRecord: contract.UserRecord{
			ID:            u.ID,
			Email:         u.Email,
			EmailVerified: u.EmailVerified,
			Name:          u.Name,
			UserName:      u.UserName,
			ExternalID:    u.ExternalID,
			State:         u.State,
			CreatedAt:     u.CreatedAt.UTC(),
			UpdatedAt:     u.UpdatedAt.UTC(),
		},
		Profile:    json.RawMessage(u.Profile),
		Identities: []identityDoc{},
		Groups:     []membershipDoc{},
		Consents:   []consentDoc{},
	}
	for _, i := range u.Identities {
		doc.Identities = append(doc.Identities, identityDoc{
			i.Issuer, i.Subject, optional(i.ProviderID), stamp(i.CreatedAt),
		})
	}
	for _, m := range u.Memberships {
		doc.Groups = append(doc.Groups, membershipDoc{m.GroupID, m.Role, m.Mapped, stamp(m.CreatedAt)})
	}
	for _, c := range u.Consents {
		doc.Consents = append(doc.Consents, consentDoc{c.ClientID, c.Scope, stamp(c.CreatedAt), stamp(c.UpdatedAt)})
	}
	return doc
}

// UsersOf iterates over the users of a tenant in ascending order of IDs. part names the work in progress reports. A
// user is valid until the next iteration.
func (b *Build) UsersOf(ctx context.Context, t snapshot.Tenant, part string) iter.Seq2[*snapshot.User, error] {
	return func(yield func(*snapshot.User, error) bool) {
		var seen int64
		order := b.orderOf(UsersFile(t.Name))
		for u, err := range b.users(ctx, t) {
			if err == nil && order != nil {
				if err = order.next(u.ID); err == nil && !prefixedID.MatchString(u.ID) {
					err = fmt.Errorf("bundle: user %q doesn't follow Postern's naming rules", u.ID)
				}
			}
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, fmt.Errorf("bundle: read users: %w", err))
				return
			}
			if seen++; seen%progressEvery == 0 {
				b.progress(part, seen, t.Directory.Users)
			}
			if !yield(&u, nil) {
				return
			}
		}
		if seen != t.Directory.Users {
			yield(nil, fmt.Errorf("bundle: read %d users of %s, but there are %d", seen, t.Name, t.Directory.Users))
			return
		}
		b.ordered[UsersFile(t.Name)] = true
		b.progress(part, seen, seen)
	}
}
