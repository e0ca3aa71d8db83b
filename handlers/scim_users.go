package handlers

import (
	"net/http"
	"net/url"

	"postern/directory"
	"postern/handlers/scim"
	"postern/models"
)

func (p *provisioner) showUser(u directory.User, groups []directory.Membership) scim.User {
	out := scim.User{Schemas: []string{scim.UserSchema}, ID: u.ID, ExternalID: u.ExternalID, UserName: u.UserName, Name: scim.NameOf(u.Name), DisplayName: u.Name,
		Active: u.State != directory.Frozen,
		Meta: scim.Meta{ResourceType: "User", Created: u.CreatedAt.UTC(), LastModified: u.UpdatedAt.UTC(), Location: p.base + "/Users/" + url.PathEscape(u.ID),
			Version: version(directory.ETag(u.UpdatedAt))}}
	if out.UserName == "" { // nobody has provisioned them so far
		out.UserName = u.Email
	}
	if out.UserName == "" {
		out.UserName = u.ID
	}
	if u.Email != "" {
		out.Emails = []scim.Email{{Value: u.Email, Type: "work", Primary: true}}
	}
	for _, g := range groups {
		kind := "direct"
		if g.Role == "" {
			kind = "indirect"
		}
		out.Groups = append(out.Groups, scim.Reference{Value: g.Group, Ref: p.base + "/Groups/" + g.Group, Display: g.DisplayName, Type: kind})
	}
	return out
}

func (p *provisioner) profile(u directory.Profile, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return p.showUser(u.User, u.Groups), nil
}

func (p *provisioner) listUsers() (any, error) {
	start, count, err := p.page()
	if err != nil {
		return nil, err
	}
	by, err := scim.ParseFilter(p.c.Query("filter"))
	if err != nil {
		return nil, err
	}
	var filter models.UserFilter
	switch by.Attribute {
	case "":
	case "username":
		filter.UserName = by.Value
	case "externalid":
		filter.ExternalID = by.Value
	case "emails", "emails.value":
		filter.Email = by.Value
	default:
		return nil, unknownFilter(by.Attribute, "userName, externalId or emails.value")
	}
	if by.Attribute != "" && by.Value == "" {
		return scim.NewList(nil, start, 0), nil // nobody is called that
	}
	found, total, err := p.Directory.UsersFrom(p.c.Request.Context(), p.who, p.tenant, filter, start-1, count)
	if err != nil {
		return nil, err
	}
	var shown []any
	for _, u := range found {
		shown = append(shown, p.showUser(u, nil))
	}
	return scim.NewList(shown, start, total), nil
}

func (p *provisioner) createUser() (any, error) {
	raw, err := p.body()
	if err != nil {
		return nil, err
	}
	said, err := scim.ParseUser(raw)
	if err != nil {
		return nil, err
	}
	in := directory.NewUser{Email: *said.Email, UserName: *said.UserName, ExternalID: *said.ExternalID, Frozen: said.Active != nil && !*said.Active}
	if name := said.Name(""); name != nil {
		in.Name = *name
	}
	return p.profile(p.Directory.CreateUser(p.c.Request.Context(), p.who, p.tenant, in))
}

// user finds the user of the address, who has to be of its tenant.
func (p *provisioner) user() (directory.Profile, error) {
	found, err := p.Directory.User(p.c.Request.Context(), p.who, p.c.Param("id"))
	if err != nil {
		return found, err
	}
	return found, p.elsewhere(found.Tenant)
}

func (p *provisioner) getUser() (any, error) { return p.profile(p.user()) }

func (p *provisioner) putUser() (any, error)   { return p.changeUser(scim.ParseUser) }
func (p *provisioner) patchUser() (any, error) { return p.changeUser(scim.ParseUserPatch) }

func (p *provisioner) changeUser(parse func([]byte) (scim.UserChange, error)) (any, error) {
	raw, err := p.body()
	if err != nil {
		return nil, err
	}
	said, err := parse(raw)
	if err != nil {
		return nil, err
	}
	before, err := p.user()
	if err != nil {
		return nil, err
	}
	if said.UserName != nil && *said.UserName == "" {
		return nil, &scim.Error{Status: http.StatusBadRequest, Type: "invalidValue", Detail: "userName cannot be empty."}
	}
	change := directory.UserChange{Email: said.Email, UserName: said.UserName, ExternalID: said.ExternalID, Name: said.Name(before.Name)}
	if said.Active != nil {
		frozen := !*said.Active
		change.Frozen = &frozen
	}
	return p.profile(p.Directory.UpdateUser(p.c.Request.Context(), p.who, before.ID, p.ifMatch(), change))
}

func (p *provisioner) deleteUser() (any, error) {
	found, err := p.user()
	if err != nil {
		return nil, err
	}
	return nil, p.Directory.DeleteUser(p.c.Request.Context(), p.who, found.ID)
}
