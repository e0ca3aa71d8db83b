package team

import (
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	"postern/views/team"
	"postern/views/ui"
)

// offerDeletion adds the form that deletes a team to its page, for owners, or says what is
// in its way.
func (h *Handler) offerDeletion(v *page.Visit, t contract.Team, m *team.Team) error {
	if !v.Who.May(t.ID, access.TeamDelete) {
		return nil
	}
	d, err := h.Accounts.TeamDeletion(v.Ctx(), v.Who, t.Path())
	if err != nil {
		return err
	}
	if len(d.Projects) > 0 {
		m.Kept = "You can't delete a team that has projects. Move these projects to another team or permanently " +
			"delete them first: " + strings.Join(d.Projects, ", ") + "."
		if d.MoreProjects > 0 {
			m.Kept = strings.TrimSuffix(m.Kept, ".") + " and " + humanize.Comma(d.MoreProjects) + " more."
		}
		return nil
	}
	m.Erase = &ui.Confirmation{
		ID:     "erase-confirm",
		Action: teamPath(t.ID) + "/delete",
		Verb:   "Delete",
		Kind:   "team",
		Name:   t.Name,
		Type:   t.Name,
		Facts: []ui.Fact{
			page.CountFact("Members", d.Members),
			page.CountFact("Invitations", d.Invitations),
			page.CountFact("Tenants", d.Tenants),
			page.CountFact("Tenant users", d.Users),
			page.CountFact("Products", d.Products),
			page.CountFact("Webhooks", d.Webhooks),
		},
		Impact: []string{
			"Everything listed above will be deleted. Members will lose access immediately but keep their accounts.",
			"The team's audit log will no longer be available.",
		},
	}
	return nil
}

func (h *Handler) deleteTeam(v *page.Visit) (web.Answer, error) {
	typed := v.Posted("typed_name")
	_, err := h.Accounts.DeleteTeam(v.Ctx(), v.Who, contract.TeamRemoval{TeamPath: teamIn(v), Confirm: typed})
	if err == nil {
		return v.Done("team_gone", "/teams", typed)
	}
	return h.refusedTeamSettings(v, err, func(m *team.Team, wrong *page.Errors) {
		if m.Erase != nil {
			v.Mark(m.Erase, wrong)
		} else {
			m.Error = wrong.Rest()
		}
	})
}
