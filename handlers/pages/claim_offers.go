package pages

import (
	"net/http"
	"net/url"
	"strings"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/projects"
)

// rememberClaim keeps the code of a claim page in a cookie until the visitor has signed
// in.
func (v *visit) rememberClaim() {
	code, ok := strings.CutPrefix(v.c.Request.URL.Path, "/claim/")
	if ok && len(code) == web.ClaimCodeLength {
		http.SetCookie(v.c.Writer, v.server.Web.ClaimCodeCookie(v.server.Web.ClaimCodes(v.c.Request), code))
	}
}

// keepClaimCodes replaces the claim codes in the browser's cookie with fewer.
func (v *visit) keepClaimCodes(codes []string) {
	if len(codes) < len(v.server.Web.ClaimCodes(v.c.Request)) {
		v.server.Web.SetCookie(v.c.Writer, web.ClaimCookie, strings.Join(codes, "."), web.ClaimCookieTTL)
	}
}

// claimOffers returns the workspaces that this browser created and that can still be
// claimed. It removes the codes of others from the cookie.
func (h *Handler) claimOffers(v *visit) ([]projects.Offer, error) {
	var out []projects.Offer
	var kept []string
	for _, code := range h.Web.ClaimCodes(v.c.Request) {
		found, err := h.Accounts.PreviewClaim(v.ctx(), v.who, code)
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
	v.keepClaimCodes(kept)
	return out, nil
}
