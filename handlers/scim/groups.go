package scim

import (
	"net/url"

	"postern/core/contract"
	"postern/handlers/scim/protocol"
	"postern/models"
	"postern/service/access"
	"postern/service/directory"
)

// showGroup returns a group with its members, unless the request leaves them out.
func (p *provisioner) showGroup(g contract.Group) (protocol.Group, error) {
	out := protocol.Group{
		Schemas:     []string{protocol.GroupSchema},
		ID:          g.ID,
		ExternalID:  g.ExternalID,
		DisplayName: g.DisplayName,
		Meta: protocol.Meta{
			ResourceType: "Group",
			Created:      g.CreatedAt,
			LastModified: g.UpdatedAt,
			Location:     p.base + "/Groups/" + url.PathEscape(g.ID),
			Version:      version(g.ETag),
		},
	}
	if !p.show.Includes("members") {
		return out, nil
	}
	var err error
	out.Members, err = p.members(g)
	return out, err
}

// members returns the users and groups that are in a group.
func (p *provisioner) members(g contract.Group) (out []protocol.Reference, err error) {
	in := contract.GroupMemberList{GroupPath: g.Path()}
	users, err := models.AllPages(func(page models.Page) (models.List[contract.GroupMember], error) {
		in.Page = contract.Page{Cursor: page.Cursor, Limit: page.Limit}
		return p.people.Members(p.c.Request.Context(), p.who, in)
	})
	if err != nil {
		return nil, err
	}
	for _, m := range users {
		out = append(out, protocol.Reference{
			Value:   m.User,
			Ref:     p.base + "/Users/" + m.User,
			Display: m.Email,
			Type:    "User",
		})
	}
	for _, inner := range g.Children {
		out = append(out, protocol.Reference{
			Value:   inner.ID,
			Ref:     p.base + "/Groups/" + inner.ID,
			Display: inner.DisplayName,
			Type:    "Group",
		})
	}
	return out, nil
}

func (p *provisioner) detail(g contract.Group, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	shown, err := p.showGroup(g)
	if err != nil {
		return nil, err
	}
	return p.one(shown, shown.Meta)
}

func (p *provisioner) listGroups() (any, error) {
	q, err := p.query()
	if err != nil {
		return nil, err
	}
	return p.list(q, p.findGroups)
}

func (p *provisioner) findGroups(q protocol.Query, skip, limit int) ([]any, int64, error) {
	terms, err := protocol.ParseFilter(q.Filter)
	if err != nil {
		return nil, 0, err
	}
	filter, possible, err := groupFilter(terms)
	if err != nil || !possible {
		return nil, 0, err
	}
	ctx := p.c.Request.Context()
	found, total, err := p.people.GroupsFrom(ctx, p.who, p.tenant, filter, skip, limit)
	if err != nil {
		return nil, 0, err
	}
	var shown []any
	for _, g := range found {
		if p.show.Includes("members") {
			if g, err = p.people.Group(ctx, p.who, g.Path()); err != nil {
				return nil, 0, err
			}
		}
		one, err := p.showGroup(g)
		if err != nil {
			return nil, 0, err
		}
		shown = append(shown, one)
	}
	return shown, total, nil
}

// groupFilter returns the filter; possible is false if no group can match it.
func groupFilter(terms []protocol.Term) (filter models.GroupFilter, possible bool, err error) {
	possible = true
	for _, term := range terms {
		switch term.Attribute {
		case "id":
			possible = narrow(&filter.ID, term.Value) && possible
		case "displayname":
			possible = narrow(&filter.DisplayName, term.Value) && possible
		case "externalid":
			possible = narrow(&filter.ExternalID, term.Value) && possible
		case "members", "members.value":
			possible = narrow(&filter.Member, term.Value) && possible
		default:
			return filter, false, unknownFilter(term.Attribute, "id, displayName, externalId or members")
		}
	}
	return filter, possible, nil
}

func (p *provisioner) createGroup() (any, error) {
	change, err := parsed(p, protocol.ParseGroup)
	if err != nil {
		return nil, err
	}
	p.unkept = change.Unkept
	in := directory.GroupInput{ExternalID: change.ExternalID}
	in.DisplayName = change.DisplayName
	return p.detail(p.people.ProvisionGroup(p.c.Request.Context(), p.who, p.tenant, in, change.Add))
}

// group returns the group that the path names, which must be of the path's tenant.
func (p *provisioner) group() (contract.Group, error) {
	found, err := p.people.Group(p.c.Request.Context(), p.who, contract.GroupPath{Group: p.c.Param("id")})
	if err != nil {
		return found, err
	}
	return found, p.checkTenant(found.Tenant)
}

func (p *provisioner) getGroup() (any, error) { return p.detail(p.group()) }

func (p *provisioner) putGroup() (any, error) {
	change, err := parsed(p, protocol.ParseGroup)
	if err != nil {
		return nil, err
	}
	before, err := p.group()
	if err != nil {
		return nil, err
	}
	return p.changeGroup(before, change)
}

func (p *provisioner) patchGroup() (any, error) {
	before, err := p.group()
	if err != nil {
		return nil, err
	}
	change, err := parsed(p, func(raw []byte) (protocol.GroupChange, error) {
		return protocol.ParseGroupPatch(raw, func() ([]protocol.Reference, error) { return p.members(before) })
	})
	if err != nil {
		return nil, err
	}
	return p.changeGroup(before, change)
}

func (p *provisioner) changeGroup(before contract.Group, change protocol.GroupChange) (any, error) {
	p.unkept = change.Unkept
	in := directory.Replacement{Clear: change.Clear, Add: change.Add, Remove: change.Remove}
	in.DisplayName, in.ExternalID = change.DisplayName, change.ExternalID
	return p.detail(p.people.ReplaceGroup(p.c.Request.Context(), p.who, before.ID, p.ifMatch(), in))
}

func (p *provisioner) deleteGroup() (any, error) {
	found, err := p.group()
	if err != nil {
		return nil, err
	}
	if err := access.Unchanged(p.ifMatch(), found.ETag); err != nil {
		return nil, err
	}
	_, err = p.people.DeleteGroup(p.c.Request.Context(), p.who, found.Path())
	return nil, err
}
