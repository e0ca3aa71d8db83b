package projects

import (
	"fmt"
	"net/http"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func clientCertificatePath(p rules.Project, version rules.Version, e contract.Environment) string {
	return environmentPath(p, version, e) + "/client-certificate"
}

func clientCertificateOf(v *page.Visit) string { return environmentHere(v) + "/client-certificate" }

func (h *Handler) showClientCertificate(v *page.Visit) (web.Answer, error) {
	return h.clientCertificateWith(v, "", &page.Errors{})
}

// clientCertificateWith shows the certificate of an environment, with the form's certificate as
// typed.
func (h *Handler) clientCertificateWith(v *page.Visit, typed string, wrong *page.Errors) (web.Answer, error) {
	at, err := h.placeOf(v)
	if err != nil {
		return web.Answer{}, err
	}
	set, err := h.Projects.ClientCertificate(v.Ctx(), v.Who, at.environmentPath())
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return web.Answer{}, err
	}
	p, version, environment := at.project, at.version, *at.environment
	path := clientCertificatePath(p, version, environment)
	m := projects.ClientCertificate{
		Page: v.Shell("Client certificate", path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Client certificate"}),
		Title:   version.Name + "/" + environment.Name,
		Target:  environment.Target,
		BackURL: page.ProjectPath(p.Name) + "#" + version.ID,
	}
	if err == nil {
		m.Shown = shownCertificate(set, time.Now())
	}
	if !rules.TakesClientCertificate(environment.Target) {
		m.Note = "Certificates work only over TLS, and this environment's target is an http URL."
	}
	if v.MayChange(p, access.ProjectUpdate) {
		clientCertificateForms(&m, path, typed, wrong, h.callersOf(v, p, environment.ID, ""))
	} else {
		m.Error = wrong.Rest() // such as of a project that is in the trash since the page was opened
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.ClientCertificatePage(m)}, nil
}

// clientCertificateForms adds the forms that the state allows.
func clientCertificateForms(
	m *projects.ClientCertificate, path, typed string, wrong *page.Errors, callers []string,
) {
	if m.Shown != nil {
		m.Remove = &ui.Confirmation{
			ID:     "certificate-remove",
			Action: path + "/remove",
			Verb:   "Remove",
			Kind:   "certificate",
			Impact: append(callers, "An upstream that requires a certificate will refuse all calls."),
			Undo:   "The private key will be deleted and can't be recovered. You can set a certificate again.",
			Error:  wrong.Take("/confirm"),
		}
	}
	if m.Note != "" {
		m.Fix = ui.Link{URL: m.BackURL, Text: "Change the target to an https URL first."}
		if m.Error = wrong.Rest(); m.Error != "" { // which gives the same reason
			m.Note = ""
		}
		return
	}
	if page.HasPrivateKey("certificate", typed) {
		typed = ""
	}
	m.Set = &projects.ClientCertificateForm{
		Action:      path,
		Replaces:    m.Shown != nil,
		Certificate: wrong.Value("/certificate", typed),
		KeyError:    wrong.Take("/private_key"),
	}
	m.Set.Error = wrong.Rest()
}

func shownCertificate(c contract.ClientCertificate, now time.Time) *projects.ShownCertificate {
	return &projects.ShownCertificate{
		State: expiryBadge(c.ExpiresAt, now),
		Chain: c.Certificate,
		Facts: []ui.Fact{
			{Label: "Subject", Value: c.Subject, Mono: true},
			{Label: "Issuer", Value: c.Issuer, Mono: true},
			{Label: "Fingerprint", Value: c.SHA256, Mono: true},
			{Label: "Valid from", Time: c.StartsAt},
			{Label: "Expires", Time: c.ExpiresAt},
			{Label: "Set", Time: c.UpdatedAt},
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

func (h *Handler) setClientCertificate(v *page.Visit) (web.Answer, error) {
	in := contract.ClientCertificateUpdate{
		EnvironmentPath: environmentPathIn(v),
		Body: contract.NewClientCertificate{
			Certificate: v.Posted("certificate"),
			PrivateKey:  contract.Secret(v.Posted("private_key")),
		},
	}
	_, err := h.Projects.SetClientCertificate(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("client_certificate", clientCertificateOf(v))
	}
	wrong, ok := page.ErrorsIn(err)
	if !ok {
		return web.Answer{}, err
	}
	return h.clientCertificateWith(v, in.Body.Certificate, wrong)
}

func (h *Handler) removeClientCertificate(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err == nil {
		err = v.Allowed(p, access.ProjectUpdate)
	}
	if err == nil { // it may be gone by now
		_, err = h.Projects.ClientCertificate(v.Ctx(), v.Who, environmentPathIn(v))
	}
	if err == nil {
		err = v.Confirmed("Check the box to remove the certificate.")
	}
	if err == nil {
		_, err = h.Projects.RemoveClientCertificate(v.Ctx(), v.Who, environmentPathIn(v))
	}
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.clientCertificateWith(v, "", wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done("client_certificate_gone", clientCertificateOf(v))
}
