package bundle

import (
	"context"
	"errors"
	"iter"
	"strings"

	"postern/bundle/scim"
	"postern/core/snapshot"
)

// readPeople adds the contents of the files about users and groups.
func (v *verifier) readPeople(p *snapshot.Project) error {
	for i := range p.Tenants {
		t := &p.Tenants[i]
		if _, have := v.files[SignupFile(t.Name)]; !have {
			continue
		}
		policy, err := decodeWhole[signupDoc](v, SignupFile(t.Name))
		if err != nil {
			return err
		}
		groups, err := decodeWhole[groupsDoc](v, GroupsFile(t.Name))
		if err != nil {
			return err
		}
		if t.Directory, err = policy.directory(groups); err != nil {
			return problem(GroupsFile(t.Name), "%s", err)
		}
		// Limits how many files are generated for the number of users.
		if bulk := (scim.Bulk{Source: scim.Source{Tenant: *t}}); bulk.Pieces() > len(v.files) {
			return problem(SignupFile(t.Name), "the tenant has more users than the archive's files can contain")
		}
	}
	return nil
}

func (d signupDoc) directory(groups groupsDoc) (*snapshot.Directory, error) {
	in := reading{}
	out := &snapshot.Directory{Users: d.Users, Consents: d.Consents, InviteOnly: d.InviteOnly}
	for _, a := range d.Approvals {
		out.Approvals = append(out.Approvals, snapshot.Approval{
			ID: a.ID, Kind: a.Kind, Value: a.Value, Groups: a.Groups, CreatedAt: a.CreatedAt,
		})
	}
	for _, g := range groups.Groups {
		var owners []snapshot.GroupOwner
		for _, o := range g.Owners {
			owners = append(owners, snapshot.GroupOwner{
				Owner: o.Owner, Role: o.Role, CreatedAt: in.moment(&o.CreatedAt),
			})
		}
		out.Groups = append(out.Groups, snapshot.Group{
			ID:          g.ID,
			Name:        g.Name,
			DisplayName: g.DisplayName,
			ExternalID:  g.ExternalID,
			Parents:     g.Parents,
			Owners:      owners,
			CreatedAt:   g.CreatedAt,
			UpdatedAt:   g.UpdatedAt,
		})
	}
	return out, in.err
}

// usersOf reads users.jsonl strictly.
func (v *verifier) usersOf(_ context.Context, t snapshot.Tenant) iter.Seq2[snapshot.User, error] {
	name := UsersFile(t.Name)
	known := map[string]bool{}
	for _, g := range t.Directory.Groups {
		known[g.ID] = true
	}
	return func(yield func(snapshot.User, error) bool) {
		err := v.lines(name, func(n int, line []byte) error {
			var row userDoc
			if err := strict(name, line, &row); err != nil {
				return problem(name, "line %d doesn't have the expected format: %s", n+1, err)
			}
			user, err := row.user()
			if err != nil {
				return problem(name, "line %d: %s", n+1, err)
			}
			for _, m := range user.Memberships {
				if !known[m.GroupID] {
					return problem(name, "line %d: %s has no group %s", n+1, GroupsFile(t.Name), m.GroupID)
				}
			}
			if !yield(user, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(snapshot.User{}, err)
		}
	}
}

// user returns the user that a row describes.
func (d userDoc) user() (snapshot.User, error) {
	in := reading{}
	u := snapshot.User{
		ID:            d.ID,
		Email:         d.Email,
		EmailVerified: d.EmailVerified,
		Name:          d.Name,
		Profile:       strings.TrimPrefix(string(d.Profile), "null"),
		UserName:      d.UserName,
		ExternalID:    d.ExternalID,
		State:         d.State,
		CreatedAt:     d.CreatedAt,
		UpdatedAt:     d.UpdatedAt,
	}
	for _, i := range d.Identities {
		u.Identities = append(u.Identities, snapshot.Identity{
			Issuer: i.Issuer, Subject: i.Subject, ProviderID: valueOf(i.ProviderID), CreatedAt: in.moment(&i.CreatedAt),
		})
	}
	for _, m := range d.Groups {
		u.Memberships = append(u.Memberships, snapshot.Membership{
			GroupID: m.ID, Role: m.Role, Mapped: m.Mapped, CreatedAt: in.moment(&m.CreatedAt),
		})
	}
	for _, c := range d.Consents {
		u.Consents = append(u.Consents, snapshot.Consent{
			ClientID: c.ClientID, Scope: c.Scope, CreatedAt: in.moment(&c.CreatedAt),
			UpdatedAt: in.moment(&c.UpdatedAt),
		})
	}
	return u, in.err
}
