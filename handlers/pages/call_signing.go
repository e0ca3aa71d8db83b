package pages

import (
	"net/http"
	"slices"
	"time"

	"postern/core/policy"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func callSigningPath(p rules.Project) string { return projectPath(p.Name) + "/call-signing" }

func (h *Handler) showCallSigning(v *visit) (web.Answer, error) {
	return h.callSigningWith(v, &formErrors{})
}

func (h *Handler) callSigningWith(v *visit, wrong *formErrors) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	signing, err := h.Projects.CallSigning(v.ctx(), v.who, p.ID)
	if err != nil {
		return web.Answer{}, err
	}
	v.selectTeam(p.Team)
	path := callSigningPath(p)
	m := projects.CallSigning{
		Page:    v.shell("Signed calls", path, projectsCrumb(), projectCrumb(p), ui.Crumb{Text: "Signed calls"}),
		BackURL: projectPath(p.Name),
	}
	if len(signing.Keys) > 0 {
		m.DirectoryURL = h.Web.Config.ProjectAddress(p.Name) + policy.SigningDirectory
	}
	for _, k := range signing.Keys {
		row := projects.SigningKeyRow{ID: k.ID, State: signingBadge(k.State), From: moment(k.SignsFrom)}
		if k.PublishedUntil != nil {
			row.Until = moment(*k.PublishedUntil)
		}
		m.Keys = append(m.Keys, row)
	}
	if v.who.May(p.Team, access.ProjectUpdate) {
		m.Manage = h.callSigningForms(v, p, len(signing.Keys) > 0)
		v.refuse(wrong, &m.Manage.Rotate, &m.Manage.Disable)
		m.Manage.Error = wrong.rest()
	}
	return web.Answer{Status: max(wrong.status, http.StatusOK), Page: projects.CallSigningPage(m)}, nil
}

func (h *Handler) callSigningForms(v *visit, p rules.Project, enabled bool) *projects.CallSigningManage {
	path := callSigningPath(p)
	if !enabled {
		return &projects.CallSigningManage{EnableAction: path}
	}
	callers := h.callersOf(v, p, "", "")
	return &projects.CallSigningManage{
		Rotations: []ui.Option{
			{Value: "later", Title: "In an hour, so that upstreams can fetch it first", Chosen: true},
			{Value: "now", Title: "Immediately, and the old keys end now"},
		},
		Rotate: ui.Confirmation{
			ID:     "signing-rotate",
			Action: path + "/rotate",
			Verb:   "Rotate",
			Kind:   "key",
			Name:   p.DisplayName,
			Impact: append(slices.Clone(callers), "Upstreams that haven't fetched the new key by then refuse all "+
				"calls. The old keys stay published for another day, unless you end them now."),
			Undo:     "An old key can't sign again.",
			ByButton: true,
		},
		Disable: ui.Confirmation{
			ID:     "signing-disable",
			Action: path + "/disable",
			Verb:   "Stop",
			Kind:   "signing",
			Name:   p.DisplayName,
			Tick:   "Stop signing calls, and delete the keys",
			Impact: append(slices.Clone(callers), "Upstreams that require a signature will refuse all calls."),
			Undo:   "The keys are deleted. If you sign calls again, upstreams have to fetch new keys first.",
		},
	}
}

func signingBadge(state rules.SigningState) ui.Badge {
	switch state {
	case rules.KeyPending:
		return ui.Badge{Tone: ui.Plain, Text: "published"}
	case rules.KeySigning:
		return ui.Badge{Tone: ui.Good, Text: "signs"}
	}
	return ui.Badge{Tone: ui.Plain, Text: "former"}
}

// callSigningChanged answers a form of the page.
func (h *Handler) callSigningChanged(v *visit, err error, flash string) (web.Answer, error) {
	if wrong, ok := formErrorsIn(err); ok {
		return h.callSigningWith(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.done(flash, projectPath(v.param("project"))+"/call-signing", v.param("project"))
}

func (h *Handler) enableCallSigning(v *visit) (web.Answer, error) {
	_, err := h.Projects.EnableCallSigning(v.ctx(), v.who, v.param("project"))
	return h.callSigningChanged(v, err, "call_signing")
}

func (h *Handler) rotateCallSigningKey(v *visit) (web.Answer, error) {
	var rotation rules.SigningRotation
	if v.posted("when") == "now" {
		rotation = rules.SigningRotation{SignsIn: new(time.Duration), Keep: new(time.Duration)}
	}
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	err = v.allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.confirmed("Confirm that you want to rotate the key.")
	}
	if err == nil {
		_, err = h.Projects.RotateSigningKey(v.ctx(), v.who, p.ID, rotation)
	}
	return h.callSigningChanged(v, err, "call_signing_key")
}

func (h *Handler) disableCallSigning(v *visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.ctx(), v.who, v.param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	err = v.allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.confirmed("Tick the box to stop signing.")
	}
	if err == nil {
		err = h.Projects.DisableCallSigning(v.ctx(), v.who, p.ID)
	}
	return h.callSigningChanged(v, err, "call_signing_gone")
}
