package account

import (
	"net/url"
	"slices"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/accounts"
	"postern/views/claim"
	"postern/views/ui"
)

func (h *Handler) showClaim(v *page.Visit) (web.Answer, error) {
	found, err := h.Accounts.PreviewClaim(v.Ctx(), v.Who, v.Param("code"))
	if err != nil {
		return h.unclaimable(v, err)
	}
	return web.Show(claim.ClaimPage(claimForm(v, found))), nil
}

func claimForm(v *page.Visit, found accounts.Claimable) claim.Claim {
	path := "/claim/" + url.PathEscape(v.Param("code"))
	m := claim.Claim{
		Page:     v.Shell("Claim", path),
		Action:   path,
		Projects: found.Projects,
		Keys:     keysKeepWorking(found.Keys),
		Ends:     found.ExpiresAt,
	}
	for i, team := range found.Teams {
		m.Teams = append(m.Teams, ui.Option{
			Value:  team.ID,
			Title:  team.Name,
			Chosen: i == 0,
		})
	}
	m.Teams = append(m.Teams, ui.Option{
		Value:  newTeam,
		Title:  "A new team",
		Chosen: len(found.Teams) == 0,
	})
	return m
}

func keysKeepWorking(n int64) string {
	if n == 0 {
		return "No API keys."
	}
	return humanize.Comma(n) + " active API " + english.PluralWord(int(n), "key keeps", "keys keep") + " working."
}

// newTeam is the form's value for a new team. An empty value could come from a form that
// was cut short.
const newTeam = "new"

func (h *Handler) claim(v *page.Visit) (web.Answer, error) {
	team := v.Posted("team")
	if team == "" {
		return web.Answer{}, fault.InvalidField("/team", "required", "Choose a team, or create a new team.")
	}
	if team == newTeam {
		team = ""
	}
	claimed, err := h.Accounts.Claim(v.Ctx(), v.Who, contract.ClaimOf(v.Param("code"), team))
	if err != nil {
		return h.unclaimable(v, err)
	}
	isClaimed := func(code string) bool { return code == v.Param("code") }
	v.KeepClaimCodes(slices.DeleteFunc(h.Web.ClaimCodes(v.Gin.Request), isClaimed))
	v.RememberTeam(claimed.Team.ID)
	if err := h.rotateSession(v); err != nil {
		return web.Answer{}, err
	}
	if len(claimed.Renamed) > 0 {
		return v.Disclose(claimedPath, page.Disclosed{Text: claimed.Team.Name, Lines: claimed.Renamed})
	}
	return v.Done("claimed", "/projects")
}

// claimedPath is the page behind a claim that renamed projects.
const claimedPath = "/claimed"

func (h *Handler) showClaimed(v *page.Visit) (web.Answer, error) {
	found, err := v.Disclosed(claimedPath)
	if err != nil || found == nil {
		return web.Redirect("/projects"), err
	}
	return web.Show(claim.RenamedPage(claim.Renamed{
		Page:  v.Shell("Claimed", "/projects"),
		Team:  found.Text,
		Names: found.Lines,
	})), nil
}

// unclaimable shows the page with the reason why the code claims nothing.
func (h *Handler) unclaimable(v *page.Visit, err error) (web.Answer, error) {
	switch fault.KindOf(err) {
	case fault.NotFound, fault.Conflict, fault.Gone:
	default:
		return web.Answer{}, err
	}
	web.RecordError(v.Ctx(), err)
	problem := web.ProblemOf(err, "")
	m := claim.Claim{Page: v.Shell("Claim", "/projects"), Refusal: problem.Detail}
	return web.Answer{Status: problem.Status, Page: claim.ClaimPage(m)}, nil
}
