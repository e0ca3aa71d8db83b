package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/tokens"
	"postern/views/device"
	"postern/views/ui"
)

// showDevice shows the device that waits with the code in the address, or asks for a code.
// It changes nothing: the decision is another request (RFC 8628, 3.3.1 and 5.4).
func (h *Handler) showDevice(v *visit) (web.Answer, error) {
	code := v.c.Query("user_code")
	if code == "" {
		page := v.shell("Sign in to the command line", web.DevicePath)
		return web.Show(device.EnterPage(device.Enter{Page: page})), nil
	}
	return h.confirmDevice(v, code)
}

func (h *Handler) confirmDevice(v *visit, code string) (web.Answer, error) {
	found, err := h.Tokens.Look(v.ctx(), v.who, code)
	if err != nil {
		return h.wrongCode(v, code, err)
	}
	m := device.Confirm{
		Page:  v.shell("Sign in to the command line", web.DevicePath),
		Code:  found.UserCode,
		Facts: deviceFacts(v, found),
	}
	return web.Show(device.ConfirmPage(m)), nil
}

func deviceFacts(v *visit, found tokens.Waiting) []ui.Fact {
	days := int(found.TokenTTL / (24 * time.Hour))
	return []ui.Fact{
		{Label: "Machine", Value: found.Machine},
		{Label: "Address", Value: found.RemoteAddr, Mono: true},
		{Label: "Requested", Value: moment(found.AskedAt)},
		{Label: "Account", Value: v.account.Email},
		{Label: "Scopes", Value: strings.Join(found.Scopes, ", ")},
		{Label: "Valid for", Value: fmt.Sprintf("%d days, or until you revoke it", days)},
	}
}

func (h *Handler) decideDevice(v *visit) (web.Answer, error) {
	code, decision := v.posted("user_code"), v.posted("decision")
	if decision == "" {
		if _, err := h.Tokens.Look(v.ctx(), v.who, code); err != nil {
			return h.wrongCode(v, code, err)
		}
		return web.Redirect(web.DevicePath + "?" + url.Values{"user_code": {code}}.Encode()), nil
	}
	if decision != "approve" && decision != "deny" {
		return web.Answer{}, fault.InvalidField("/decision", "invalid_decision", "Choose approve or deny.")
	}
	found, err := h.Tokens.Look(v.ctx(), v.who, code)
	if err == nil {
		err = h.Tokens.Decide(v.ctx(), v.who, code, decision == "approve")
	}
	if err != nil {
		return h.wrongCode(v, code, err)
	}
	path := deviceDenied
	if decision == "approve" {
		path = deviceApproved
	}
	return v.disclose(path, disclosed{Text: found.Machine})
}

// The pages behind the two decisions.
const (
	deviceApproved = web.DevicePath + "/approved"
	deviceDenied   = web.DevicePath + "/denied"
)

// showDecided shows the decision, with the name of the machine the first time.
func (h *Handler) showDecided(v *visit) (web.Answer, error) {
	path := v.c.FullPath()
	found, err := v.disclosed(path)
	if err != nil {
		return web.Answer{}, err
	}
	m := device.Done{
		Page:     v.shell("Sign in to the command line", path),
		Machine:  "The command line",
		Approved: path == deviceApproved,
	}
	if found != nil && found.Text != "" {
		m.Machine = found.Text
	}
	return web.Show(device.DonePage(m)), nil
}

// wrongCode shows the form again with the reason.
func (h *Handler) wrongCode(v *visit, code string, err error) (web.Answer, error) {
	web.RecordError(v.ctx(), err)
	m := device.Enter{Page: v.shell("Sign in to the command line", web.DevicePath), Code: ui.Value{Text: code}}
	status := http.StatusTooManyRequests
	if wrong, ok := formErrorsIn(err); ok {
		status, m.Code = wrong.status, wrong.value("/user_code", code)
	} else if fault.KindOf(err) == fault.TooMany {
		web.SetRetryAfter(v.c.Writer.Header(), err)
		m.Code.Error = web.ProblemOf(err, "").Detail
	} else {
		return web.Answer{}, err
	}
	return web.Answer{Status: status, Page: device.EnterPage(m)}, nil
}
