package handlers

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"postern/platform/fault"
	"postern/service/tokens"
	"postern/views/device"
	"postern/views/ui"
)

// askDevice shows who waits with the code in the address, or asks for one. That
// changes nothing: the decision is another request (RFC 8628, 3.3.1 and 5.4).
func (s *Server) askDevice(v *visit) (answer, error) {
	code := v.c.Query("user_code")
	if code == "" {
		return show(device.EnterPage(device.Enter{Page: v.shell("Sign in a command line", devicePath)})), nil
	}
	return s.confirmDevice(v, code)
}

func (s *Server) confirmDevice(v *visit, code string) (answer, error) {
	found, err := s.Tokens.Look(v.ctx(), v.who, code)
	if err != nil {
		return s.wrongCode(v, code, err)
	}
	m := device.Confirm{
		Page:  v.shell("Sign in a command line", devicePath),
		Code:  found.UserCode,
		Facts: deviceFacts(v, found),
	}
	return show(device.ConfirmPage(m)), nil
}

func deviceFacts(v *visit, found tokens.Waiting) []ui.Fact {
	days := int(found.TokenTTL / (24 * time.Hour))
	return []ui.Fact{
		{Label: "Machine", Value: found.Machine},
		{Label: "Address", Value: found.RemoteAddr, Mono: true},
		{Label: "Asked", Value: moment(found.AskedAt)},
		{Label: "As", Value: v.account.Email},
		{Label: "Scopes", Value: scopeNames(found.Scopes)},
		{Label: "For", Value: fmt.Sprintf("%d days, or until you revoke it", days)},
	}
}

func (s *Server) decideDevice(v *visit) (answer, error) {
	code, decision := v.posted("user_code"), v.posted("decision")
	if decision == "" {
		if _, err := s.Tokens.Look(v.ctx(), v.who, code); err != nil {
			return s.wrongCode(v, code, err)
		}
		return goTo(devicePath + "?" + url.Values{"user_code": {code}}.Encode()), nil
	}
	if decision != "approve" && decision != "deny" {
		return answer{}, fault.InvalidField("/decision", "invalid_decision", "Choose approve or deny.")
	}
	found, err := s.Tokens.Look(v.ctx(), v.who, code)
	if err == nil {
		err = s.Tokens.Decide(v.ctx(), v.who, code, decision == "approve")
	}
	if err != nil {
		return s.wrongCode(v, code, err)
	}
	path := deviceDenied
	if decision == "approve" {
		path = deviceApproved
	}
	return s.disclose(v, path, disclosed{Text: found.Machine})
}

// Where the two decisions lead to.
const (
	deviceApproved = devicePath + "/approved"
	deviceDenied   = devicePath + "/denied"
)

// showDecided says what was decided, the first time also for which machine.
func (s *Server) showDecided(v *visit) (answer, error) {
	path := v.c.FullPath()
	found, err := s.disclosed(v, path)
	if err != nil {
		return answer{}, err
	}
	m := device.Done{
		Page:     v.shell("Sign in a command line", path),
		Machine:  "The command line",
		Approved: path == deviceApproved,
	}
	if found != nil && found.Text != "" {
		m.Machine = found.Text
	}
	return show(device.DonePage(m)), nil
}

// wrongCode asks again.
func (s *Server) wrongCode(v *visit, code string, err error) (answer, error) {
	note(v.ctx(), err)
	m := device.Enter{Page: v.shell("Sign in a command line", devicePath), Code: ui.Value{Text: code}}
	status := http.StatusTooManyRequests
	if wrong, ok := mistakesIn(err); ok {
		status, m.Code = wrong.status, wrong.value("/user_code", code)
	} else if fault.KindOf(err) == fault.TooMany {
		setRetryAfter(v.c.Writer.Header(), err)
		m.Code.Error = problemOf(err, "").Detail
	} else {
		return answer{}, err
	}
	return answer{status: status, page: device.EnterPage(m)}, nil
}
