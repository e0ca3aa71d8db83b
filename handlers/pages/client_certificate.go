package pages

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"postern/handlers/web"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func clientCertificatePath(p rules.Project, e rules.Environment) string {
	return targetAction(p, e) + "/client-certificate"
}

func clientCertificateOf(v *visit) string {
	return projectPath(v.param("project")) + "/environments/" + url.PathEscape(v.param("environment")) +
		"/client-certificate"
}

func (h *Handler) showClientCertificate(v *visit) (web.Answer, error) {
	return h.clientCertificateWith(v, "", &formErrors{})
}

// clientCertificateWith shows the certificate of an environment, with the form's certificate as
// typed.
func (h *Handler) clientCertificateWith(v *visit, typed string, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	version, environment, ok := environmentIn(p, v.param("environment"))
	if !ok {
		return web.Answer{}, web.NotFound()
	}
	set, err := h.Projects.ClientCertificate(v.ctx(), v.who, p.ID, environment.ID)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := clientCertificatePath(p, environment)
	m := projects.ClientCertificate{
		Page: v.shell("Client certificate", path, projectsCrumb(), projectCrumb(p),
			ui.Crumb{Text: "Client certificate"}),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		BackURL: projectPath(p.Name) + "#" + version.ID,
	}
	if err == nil {
		m.Shown = shownCertificate(set, time.Now())
	}
	if !rules.TakesClientCertificate(environment.Target) {
		m.Note = "Certificates work only over TLS, and this environment's target is an http URL."
	}
	if v.mayChange(p, access.ProjectUpdate) {
		clientCertificateForms(&m, path, typed, wrong, h.callersOf(v, p, environment.ID, ""))
	} else {
		m.Error = wrong.rest() // such as of a project that is in the bin since the page was opened
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.ClientCertificatePage(m)}, nil
}

// clientCertificateForms adds the forms that the state allows.
func clientCertificateForms(
	m *projects.ClientCertificate, path, typed string, wrong *formErrors, callers []string,
) {
	if m.Shown != nil {
		m.Remove = &ui.Confirmation{
			ID:     "certificate-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "certificate",
			Impact: append(callers, "An upstream that requires a certificate will refuse all calls."),
			Undo:   "The private key is deleted and can't be recovered. You can set a certificate again.",
			Error:  wrong.take("/confirm"),
		}
	}
	if m.Note != "" {
		m.Note += " Change the target to an https URL first."
		if m.Error = wrong.rest(); m.Error != "" { // which gives the same reason
			m.Note = ""
		}
		return
	}
	if hasPrivateKey("certificate", typed) {
		typed = ""
	}
	m.Set = &projects.ClientCertificateForm{
		Action:      path,
		Replaces:    m.Shown != nil,
		Certificate: wrong.value("/certificate", typed),
		KeyError:    wrong.take("/private_key"),
	}
	m.Set.Error = wrong.rest()
}

func shownCertificate(c rules.ClientCertificate, now time.Time) *projects.ShownCertificate {
	return &projects.ShownCertificate{
		State: expiryBadge(c.EndsAt, now),
		Chain: c.Chain,
		Facts: []ui.Fact{
			{Label: "Subject", Value: c.Subject, Mono: true},
			{Label: "Issuer", Value: c.Issuer, Mono: true},
			{Label: "Fingerprint", Value: c.SHA256, Mono: true},
			{Label: "Valid from", Value: moment(c.StartsAt)},
			{Label: "Expires", Value: moment(c.EndsAt)},
			{Label: "Set", Value: moment(c.UpdatedAt)},
		},
	}
}

// expiryWarning is how long before its end a certificate is marked: time for its issuer to
// renew it.
const expiryWarning = 30 * 24 * time.Hour

// expiryBadge is the state of a certificate that ends at a time.
func expiryBadge(end, now time.Time) ui.Badge {
	left := end.Sub(now)
	switch days := int(left / (24 * time.Hour)); {
	case left <= 0:
		return ui.Badge{Tone: ui.Bad, Text: "expired"}
	case left > expiryWarning:
		return ui.Badge{Tone: ui.Good, Text: "valid"}
	case days == 0:
		return ui.Badge{Tone: ui.Warn, Text: "expires within a day"}
	case days == 1:
		return ui.Badge{Tone: ui.Warn, Text: "expires in 1 day"}
	default:
		return ui.Badge{Tone: ui.Warn, Text: fmt.Sprintf("expires in %d days", days)}
	}
}

func (h *Handler) setClientCertificate(v *visit) (web.Answer, error) {
	in := rules.ClientCertificateInput{
		Certificate: v.posted("certificate"),
		PrivateKey:  secrets.Secret(v.posted("private_key")),
	}
	_, err := h.Projects.SetClientCertificate(v.ctx(), v.who, v.param("project"), v.param("environment"), in)
	if err == nil {
		return v.done("client_certificate", clientCertificateOf(v))
	}
	wrong, ok := formErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.clientCertificateWith(v, in.Certificate, wrong)
}

func (h *Handler) removeClientCertificate(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err == nil {
		err = v.allowed(p, access.ProjectUpdate)
	}
	if err == nil { // it may be gone by now
		_, err = h.Projects.ClientCertificate(v.ctx(), v.who, p.ID, v.param("environment"))
	}
	if err == nil {
		err = v.confirmed("Tick the box to remove the certificate.")
	}
	if err == nil {
		err = h.Projects.RemoveClientCertificate(v.ctx(), v.who, p.ID, v.param("environment"))
	}
	if wrong, ok := formErrorsIn(err); ok {
		return h.clientCertificateWith(v, "", wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done("client_certificate_gone", clientCertificateOf(v))
}
