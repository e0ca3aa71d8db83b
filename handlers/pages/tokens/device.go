package tokens

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/tokens"
	"postern/views/device"
	"postern/views/ui"
)

// showDevice shows the device that waits with the code in the address, or asks for a code.
// It changes nothing: the decision is another request (RFC 8628, 3.3.1 and 5.4).
func (h *Handler) showDevice(v *page.Visit) (web.Answer, error) {
	code := v.Gin.Query("user_code")
	if code == "" {
		page := v.Shell("Sign in to the Postern CLI", web.DevicePath)
		return web.Show(device.EnterPage(device.Enter{Page: page})), nil
	}
	return h.confirmDevice(v, code)
}

func (h *Handler) confirmDevice(v *page.Visit, code string) (web.Answer, error) {
	found, err := h.Tokens.Look(v.Ctx(), v.Who, code)
	if err != nil {
		return h.wrongCode(v, code, err)
	}
	m := device.Confirm{
		Page:  v.Shell("Sign in to the Postern CLI", web.DevicePath),
		Code:  found.UserCode,
		Facts: deviceFacts(v, found),
	}
	return web.Show(device.ConfirmPage(m)), nil
}

func deviceFacts(v *page.Visit, found tokens.Waiting) []ui.Fact {
	days := int(found.TokenTTL / (24 * time.Hour))
	return []ui.Fact{
		{Label: "Machine", Value: found.Machine},
		{Label: "Address", Value: found.RemoteAddr, Mono: true},
		{Label: "Requested", Time: found.RequestedAt},
		{Label: "Account", Value: v.Account.Email},
		{Label: "Scopes", Value: strings.Join(found.Scopes, ", ")},
		{Label: "Valid for", Value: fmt.Sprintf("%d days, or until you revoke it", days)},
	}
}

func (h *Handler) decideDevice(v *page.Visit) (web.Answer, error) {
	code, decision := v.Posted("user_code"), v.Posted("decision")
	if decision == "" {
		if _, err := h.Tokens.Look(v.Ctx(), v.Who, code); err != nil {
			return h.wrongCode(v, code, err)
		}
		return web.Redirect(web.DevicePath + "?" + url.Values{"user_code": {code}}.Encode()), nil
	}
	if decision != "approve" && decision != "deny" {
		return web.Answer{}, fault.InvalidField("/decision", "invalid_decision", "Choose Allow or Deny.")
	}
	found, err := h.Tokens.Look(v.Ctx(), v.Who, code)
	if err == nil {
		err = h.Tokens.Decide(v.Ctx(), v.Who, code, decision == "approve")
	}
	if err != nil {
		return h.wrongCode(v, code, err)
	}
	path := deviceDenied
	if decision == "approve" {
		path = deviceApproved
	}
	return v.Disclose(path, page.Disclosed{Text: found.Machine})
}

// The pages behind the two decisions.
const (
	deviceApproved = web.DevicePath + "/approved"
	deviceDenied   = web.DevicePath + "/denied"
)

// showDecided shows the decision, with the name of the machine the first time.
func (h *Handler) showDecided(v *page.Visit) (web.Answer, error) {
	path := v.Gin.FullPath()
	found, err := v.Disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	m := device.Done{
		Page:     v.Shell("Sign in to the Postern CLI", path),
		Machine:  "The Postern CLI",
		Approved: path == deviceApproved,
	}
	if found != nil && found.Text != "" {
		m.Machine = found.Text
	}
	return web.Show(device.DonePage(m)), nil
}

// wrongCode shows the form again with the reason.
func (h *Handler) wrongCode(v *page.Visit, code string, err error) (web.Answer, error) {
	web.RecordError(v.Ctx(), err)
	m := device.Enter{Page: v.Shell("Sign in to the Postern CLI", web.DevicePath), Code: ui.Value{Text: code}}
	status := http.StatusTooManyRequests
	if wrong, ok := page.ErrorsIn(err); ok {
		status, m.Code = wrong.Status, wrong.Value("/user_code", code)
	} else if fault.KindOf(err) == fault.TooMany {
		web.SetRetryAfter(v.Gin.Writer.Header(), err)
		m.Code.Error = web.ProblemOf(err, "").Detail
	} else {
		return web.Answer{}, err
	}
	return web.Answer{Status: status, Page: device.EnterPage(m)}, nil
}
