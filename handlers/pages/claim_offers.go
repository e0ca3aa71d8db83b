package pages

import (
	"net/url"
	"strings"

	"postern/handlers/page"
	"postern/platform/fault"
	"postern/views/projects"
)

// claimOffers returns the workspaces that this browser created and that can still be
// claimed. It removes the codes of others from the cookie.
func (h *Handler) claimOffers(v *page.Visit) ([]projects.Offer, error) {
	var out []projects.Offer
	var kept []string
	for _, code := range h.Web.ClaimCodes(v.Gin.Request) {
		found, err := h.Accounts.PreviewClaim(v.Ctx(), v.Who, code)
		switch fault.KindOf(err) {
		case fault.NotFound, fault.Conflict, fault.Gone:
			continue
		}
		if err != nil {
			return nil, err
		}
		kept = append(kept, code)
		out = append(out, projects.Offer{
			Projects: strings.Join(found.Projects, ", "),
			Ends:     found.ExpiresAt,
			URL:      "/claim/" + url.PathEscape(code),
		})
	}
	v.KeepClaimCodes(kept)
	return out, nil
}
