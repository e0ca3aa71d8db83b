package scim

import (
	"net/http"
	"net/url"

	"postern/core/contract"
	"postern/handlers/scim/protocol"
	"postern/models"
	"postern/service/access"
	"postern/service/directory"
)

func (p *provisioner) showUser(u contract.User) protocol.User {
	out := protocol.User{
		Schemas:     []string{protocol.UserSchema},
		ID:          u.ID,
		ExternalID:  u.ExternalID,
		UserName:    u.UserName,
		Name:        nameOf(u).Shown(),
		DisplayName: u.Name,
		Active:      u.State != directory.Frozen,
		Meta: protocol.Meta{
			ResourceType: "User",
			Created:      u.CreatedAt,
			LastModified: u.UpdatedAt,
			Location:     p.base + "/Users/" + url.PathEscape(u.ID),
			Version:      version(u.ETag),
		},
	}
	if out.UserName == "" { // not provisioned, but created by a sign-in
		out.UserName = u.Email
	}
	if out.UserName == "" {
		out.UserName = u.ID
	}
	if u.Email != "" {
		out.Emails = []protocol.Email{{Value: u.Email, Type: "work", Primary: true}}
	}
	for _, g := range u.Groups {
		kind := "direct"
		if !g.IsDirect() {
			kind = "indirect"
		}
		out.Groups = append(out.Groups, protocol.Reference{
			Value:   g.ID,
			Ref:     p.base + "/Groups/" + g.ID,
			Display: g.DisplayName,
			Type:    kind,
		})
	}
	return out
}

func nameOf(u contract.User) protocol.Name {
	out := protocol.Name{Formatted: u.Name}
	if u.Profile != nil {
		out.GivenName, out.FamilyName = u.Profile.GivenName, u.Profile.FamilyName
	}
	return out
}

func (p *provisioner) profile(u contract.User, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	shown := p.showUser(u)
	return p.one(shown, shown.Meta)
}

func (p *provisioner) listUsers() (any, error) {
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	return p.list(q, p.findUsers)
}

func (p *provisioner) findUsers(q protocol.Query, skip, limit int) ([]any, int64, error) {
	terms, err := protocol.ParseFilter(q.Filter)
	if err != nil {
		return nil, 0, err
	}
	filter, possible, err := userFilter(terms)
	if err != nil || !possible {
		return nil, 0, err
	}
	ctx := p.c.Request.Context()
	found, total, err := p.people.UsersFrom(ctx, p.who, p.tenant, filter, skip, limit)
	if err != nil {
		return nil, 0, err
	}
	var shown []any
	for _, u := range found {
		if p.show.Includes("groups") {
			if u.Groups, err = p.people.GroupsOfUser(ctx, p.who, u.ID); err != nil {
				return nil, 0, err
			}
		}
		shown = append(shown, p.showUser(u))
	}
	return shown, total, nil
}

// userFilter returns the filter; possible is false if no user can match it.
func userFilter(terms []protocol.Term) (filter models.UserFilter, possible bool, err error) {
	possible = true
	for _, term := range terms {
		switch term.Attribute {
		case "id":
			possible = narrow(&filter.ID, term.Value) && possible
		case "username":
			possible = narrow(&filter.UserName, term.Value) && possible
		case "externalid":
			possible = narrow(&filter.ExternalID, term.Value) && possible
		case "emails", "emails.value":
			possible = narrow(&filter.Email, term.Value) && possible
		case "active":
			frozen := term.Value == "false"
			if !frozen && term.Value != "true" {
				return filter, false, &protocol.Error{
					Status: http.StatusBadRequest,
					Type:   "invalidFilter",
					Detail: "active must be true or false.",
				}
			}
			possible = possible && (filter.Frozen == nil || *filter.Frozen == frozen)
			filter.Frozen = &frozen
		default:
			return filter, false, unknownFilter(term.Attribute, "id, userName, externalId, emails.value or active")
		}
	}
	return filter, possible, nil
}

func (p *provisioner) createUser() (any, error) {
	change, err := parsed(p, protocol.ParseUser)
	if err != nil {
		return nil, err
	}
	p.unkept = change.Unkept
	name := change.Name(protocol.Name{})
	in := directory.NewUser{
		NewUser:    contract.NewUser{Email: *change.Email, Name: name.Formatted},
		GivenName:  name.GivenName,
		FamilyName: name.FamilyName,
		UserName:   *change.UserName,
		ExternalID: *change.ExternalID,
		Frozen:     change.Active != nil && !*change.Active,
	}
	return p.profile(p.people.ProvisionUser(p.c.Request.Context(), p.who, p.tenant, in))
}

// user returns the user that the path names, who must be of the path's tenant.
func (p *provisioner) user() (contract.User, error) {
	found, err := p.people.User(p.c.Request.Context(), p.who, contract.UserPath{User: p.c.Param("id")})
	if err != nil {
		return found, err
	}
	return found, p.checkTenant(found.Tenant)
}

func (p *provisioner) getUser() (any, error) { return p.profile(p.user()) }

func (p *provisioner) putUser() (any, error) {
	sent, err := parsed(p, protocol.ParseUser)
	if err != nil {
		return nil, err
	}
	before, err := p.user()
	if err != nil {
		return nil, err
	}
	return p.changeUser(before, sent)
}

func (p *provisioner) patchUser() (any, error) {
	before, err := p.user()
	if err != nil {
		return nil, err
	}
	sent, err := parsed(p, func(raw []byte) (protocol.UserChange, error) {
		return protocol.ParseUserPatch(raw, before.Email)
	})
	if err != nil {
		return nil, err
	}
	return p.changeUser(before, sent)
}

func (p *provisioner) changeUser(before contract.User, sent protocol.UserChange) (any, error) {
	p.unkept = sent.Unkept
	if sent.UserName != nil && *sent.UserName == "" {
		return nil, &protocol.Error{
			Status: http.StatusBadRequest,
			Type:   "invalidValue",
			Detail: "userName can't be empty.",
		}
	}
	name := sent.Name(nameOf(before))
	change := directory.UserChange{
		UserChange: contract.UserChange{Email: sent.Email, Name: &name.Formatted},
		UserName:   sent.UserName,
		ExternalID: sent.ExternalID,
		GivenName:  &name.GivenName,
		FamilyName: &name.FamilyName,
	}
	if sent.Active != nil {
		frozen := !*sent.Active
		change.Frozen = &frozen
	}
	return p.profile(p.people.ChangeUser(p.c.Request.Context(), p.who, before.ID, p.ifMatch(), change))
}

func (p *provisioner) deleteUser() (any, error) {
	found, err := p.user()
	if err != nil {
		return nil, err
	}
	if err := access.Unchanged(p.ifMatch(), found.ETag); err != nil {
		return nil, err
	}
	_, err = p.people.DeleteUser(p.c.Request.Context(), p.who, found.Path())
	return nil, err
}
