package pages

import (
	"net/http"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/models"
	"postern/service/directory"
	"postern/views/tenants"
	"postern/views/ui"
)

func userInvitationPath(user string) string { return page.UserPath(user) + "/invitation" }

// userInvitationForm adds the form that creates an invitation link. A tenant without app clients has no page that
// the link could lead to.
func (h *Handler) userInvitationForm(v *page.Visit, m *tenants.User, u contract.User) error {
	if u.State != directory.Invited || len(u.Identities) > 0 {
		return nil
	}
	clients, err := h.Login.Clients(v.Ctx(), v.Who, contract.AppClientList{
		TenantPath: contract.TenantPath{Tenant: u.Tenant}, Page: contract.Page{Limit: models.MaxLimit},
	})
	if err != nil || len(clients.Items) == 0 {
		return err
	}
	m.Invitation = &tenants.Invitation{Action: userInvitationPath(u.ID)}
	for _, one := range clients.Items {
		m.Invitation.Clients = append(m.Invitation.Clients, ui.Option{Value: one.ID, Text: one.Name})
	}
	return nil
}

func (h *Handler) createUserInvitation(v *page.Visit) (web.Answer, error) {
	in := contract.UserInvitationCreation{UserPath: userIn(v)}
	v.Fill(&in.Body, "app_client")
	made, err := h.Login.InviteUser(v.Ctx(), v.Who, in)
	if err != nil {
		return h.refusedUser(v, err, func(m *tenants.User, wrong *page.Errors) { m.Error = wrong.Rest() })
	}
	return v.Disclose(userInvitationPath(in.User), page.Disclosed{Secret: made.URL.Reveal()})
}

// showUserInvitation shows the user's page, the first time with a new invitation link.
func (h *Handler) showUserInvitation(v *page.Visit) (web.Answer, error) {
	u, t, err := h.userOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	found, err := v.Disclosed(userInvitationPath(u.ID))
	if err != nil {
		return web.Answer{}, err
	}
	return h.userWith(v, u, t, func(m *tenants.User) {
		if m.Invitation == nil {
			return
		}
		m.Invitation.LinkGone = found == nil
		if found != nil {
			m.Invitation.Link = found.Secret
		}
	}, http.StatusOK)
}
