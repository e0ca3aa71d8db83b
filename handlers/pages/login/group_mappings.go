package login

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/service/appclients"
	"postern/service/login/providers"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func mappingsPath(p rules.Project, c contract.AppClient, o contract.Provider) string {
	return providerPath(appClientPath(p, c.ID), o.ID) + "/group-mappings"
}

// mappingText is a mapping in words.
func mappingText(one contract.GroupMapping) string {
	if one.Match == contract.MatchPrefix {
		return fmt.Sprintf("%s starts with %q", one.Claim, one.Value)
	}
	return fmt.Sprintf("%s is %q", one.Claim, one.Value)
}

func (h *Handler) showGroupMappings(v *page.Visit) (web.Answer, error) {
	return h.groupMappingsWith(v, contract.GroupMapping{}, &page.Errors{})
}

// groupMappingsWith shows the rules of a provider, with the form of a new one as typed.
func (h *Handler) groupMappingsWith(
	v *page.Visit,
	typed contract.GroupMapping,
	wrong *page.Errors,
) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.AppClients.GroupMappings(v.Ctx(), v.Who, contract.ProviderPath{Provider: o.ID})
	if err != nil {
		return web.Answer{}, err
	}
	client, label := appClientPath(p, c.ID), o.ShownLabel()
	path := mappingsPath(p, c, o)
	m := projects.GroupMappings{
		Page: v.Shell("Group mappings", path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name, URL: client}, ui.Crumb{Text: label, URL: providerPath(client, o.ID)},
			ui.Crumb{Text: "Group mappings"}),
		Provider: label,
		Note:     mappingNote(o),
		BackURL:  providerPath(client, o.ID),
	}
	may := v.MayChange(p, access.LoginUpdate) && v.MayChange(p, access.UserUpdate)
	for _, one := range found.Mappings {
		row := projects.GroupMappingRow{Rule: mappingText(one.GroupMapping), Group: one.GroupName}
		if may {
			row.RemoveURL = path + "/" + url.PathEscape(appclients.MappingID(one.GroupMapping))
		}
		m.Rows = append(m.Rows, row)
	}
	if traits, _ := providers.TraitsOf(o.Type); may && traits.StatesClaims() && !o.Managed {
		place := fmt.Sprintf("/mappings/%d", len(found.Mappings))
		m.Add = &projects.GroupMappingForm{
			Action: path,
			Claim:  wrong.Value(place+"/claim", typed.Claim),
			Value:  wrong.Value(place+"/value", typed.Value),
			Group:  wrong.Value(place+"/group", typed.Group),

			Example: "admin",
			Matches: []ui.Option{
				{Value: contract.MatchExact, Title: "is", Chosen: typed.Match != contract.MatchPrefix},
				{Value: contract.MatchPrefix, Title: "starts with", Chosen: typed.Match == contract.MatchPrefix},
			},
		}
		for _, name := range traits.Claims { // of GitHub alone
			m.Add.Claims = append(m.Add.Claims, ui.Option{Value: name, Title: name, Chosen: name == typed.Claim})
			m.Add.Example = "acme, or acme/sre for a team"
		}
		m.Add.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.GroupMappingsPage(m)}, nil
}

// mappingNote returns the note that differs between kinds of provider.
func mappingNote(o contract.Provider) string {
	traits, _ := providers.TraitsOf(o.Type)
	switch {
	case o.Managed:
		return "The shared app requests only the user's identity. To map groups, register your own OAuth app with " +
			traits.Label + "."
	case !traits.StatesClaims():
		return traits.Label + " doesn't send any claims that can be mapped to groups."
	case o.Type == providers.GitHub:
		return "If you add a mapping, GitHub asks users for read access to their organizations and teams. If an " +
			"organization restricts OAuth apps, GitHub lists it only after an organization owner approves your app."
	}
	return ""
}

func (h *Handler) addGroupMapping(v *page.Visit) (web.Answer, error) {
	var typed contract.GroupMapping
	v.Fill(&typed, "claim", "match", "group")
	typed.Value = v.Posted("claim_value") // value is a field of approvals, with another label
	p, c, o, err := h.providerOf(v)
	if err == nil {
		_, err = h.AppClients.AddGroupMapping(v.Ctx(), v.Who, o.ID, typed)
	}
	if err == nil {
		return v.Done("group_mapping", mappingsPath(p, c, o))
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.groupMappingsWith(v, typed, wrong)
}

func (h *Handler) showGroupMapping(v *page.Visit) (web.Answer, error) {
	return h.groupMappingRemoval(v, &page.Errors{})
}

// groupMappingRemoval asks before a rule is removed: users can leave its group at once.
func (h *Handler) groupMappingRemoval(v *page.Visit, wrong *page.Errors) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err == nil {
		err = v.Allowed(p, access.LoginUpdate)
	}
	if err != nil {
		return web.Answer{}, err
	}
	found, err := h.AppClients.GroupMappings(v.Ctx(), v.Who, contract.ProviderPath{Provider: o.ID})
	if err != nil {
		return web.Answer{}, err
	}
	i := slices.IndexFunc(found.Mappings, func(one contract.NamedGroupMapping) bool {
		return appclients.MappingID(one.GroupMapping) == v.Param("mapping")
	})
	if i < 0 {
		return web.Answer{}, web.NotFound()
	}
	one, list, client := found.Mappings[i], mappingsPath(p, c, o), appClientPath(p, c.ID)
	path := list + "/" + url.PathEscape(appclients.MappingID(one.GroupMapping))
	m := projects.GroupMappingRemoval{
		Page: v.Shell("Remove a group mapping", path, page.ProjectsCrumb(), page.ProjectCrumb(p), loginCrumb(p),
			ui.Crumb{Text: c.Name, URL: client},
			ui.Crumb{Text: o.ShownLabel(), URL: providerPath(client, o.ID)},
			ui.Crumb{Text: "Group mappings", URL: list}, ui.Crumb{Text: "Remove"}),
		Facts: []ui.Fact{
			{Label: "Mapping", Value: mappingText(one.GroupMapping), Mono: true},
			{Label: "Group", Value: one.GroupName},
		},
		Confirm: ui.Confirmation{
			ID:     "mapping-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "mapping",
			Impact: h.mappingImpact(v, o, one, found.Mappings),
			Undo:   "You can add it again. It applies at each user's next sign-in.",
			Error:  wrong.Rest(),
		},
		BackURL: list,
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.GroupMappingRemovalPage(m)}, nil
}

func (h *Handler) removeGroupMapping(v *page.Visit) (web.Answer, error) {
	p, c, o, err := h.providerOf(v)
	if err == nil {
		err = v.Allowed(p, access.LoginUpdate)
	}
	if err == nil {
		err = v.Confirmed("Check the box to remove the mapping.")
	}
	if err == nil {
		_, err = h.AppClients.RemoveGroupMapping(v.Ctx(), v.Who, o.ID, v.Param("mapping"))
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.groupMappingRemoval(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("group_mapping_gone", mappingsPath(p, c, o))
}

// mappingImpact says who leaves a group when a mapping to it is removed.
func (h *Handler) mappingImpact(
	v *page.Visit, o contract.Provider, one contract.NamedGroupMapping, all []contract.NamedGroupMapping,
) []string {
	others := int64(-1) // the mapping itself
	for _, other := range all {
		if other.Group == one.Group {
			others++
		}
	}
	n, err := h.AppClients.SignInsWithToday(v.Ctx(), v.Who, o.ID)
	lines := v.Figure(page.SignInsText(n, "with this provider"), err)
	if others > 0 {
		return append(
			lines,
			"This provider has "+page.CountText(others, "other mapping")+" to "+one.GroupName+". Users who "+
				"are in the group only because of a claim and don't match another mapping will be removed from it "+
				"immediately.",
		)
	}
	return append(lines, "This provider doesn't have another mapping to "+one.GroupName+". Users who are in the "+
		"group only because of a claim will be removed from it immediately.")
}
