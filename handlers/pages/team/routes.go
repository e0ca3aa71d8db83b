// Package team serves the pages of teams, their members and invitations.
//
// It leaves membership and permissions to service/accounts.
package team

import (
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/accounts"
)

// Handler serves the pages of teams.
type Handler struct {
	Accounts *accounts.Service
	Web      *web.Site
}

// Mount mounts the pages of teams.
func (h *Handler) Mount(p page.Router) {
	p.Open("POST", "/team", h.chooseTeam, "team")
	p.SignedIn("GET", "/teams", h.showTeams)
	p.SignedIn("POST", "/teams", h.createTeam, "name")
	p.SignedIn("GET", "/teams/:team", h.showTeam)
	p.SignedIn("GET", "/teams/:team/settings", h.showTeamSettings)
	p.SignedIn("POST", "/teams/:team/rename", h.saveTeamName, "name")
	p.SignedIn("POST", "/teams/:team/leave", h.leaveTeam)
	p.SignedIn("POST", "/teams/:team/delete", h.deleteTeam)
	p.SignedIn("POST", "/teams/:team/members/:account/role", h.saveRole, "role")
	p.SignedIn("POST", "/teams/:team/members/:account/remove", h.removeMember)
	p.SecretForm("/teams/:team/invitations", h.createInvitation, "email role")
	p.SignedIn("GET", "/teams/:team/invitations/:invitation", h.showInvitationLink)
	p.SignedIn("POST", "/teams/:team/invitations/:invitation/revoke", h.revokeInvitation)
}
