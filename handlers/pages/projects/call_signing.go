package projects

import (
	"net/http"
	"slices"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/service/access"
	rules "postern/service/projects"
	"postern/views/projects"
	"postern/views/ui"
)

func callSigningPath(p rules.Project) string { return page.ProjectPath(p.Name) + "/call-signing" }

func (h *Handler) showCallSigning(v *page.Visit) (web.Answer, error) {
	return h.callSigningWith(v, &page.Errors{})
}

func (h *Handler) callSigningWith(v *page.Visit, wrong *page.Errors) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	signing, err := h.Projects.CallSigning(v.Ctx(), v.Who, p.Path())
	if err != nil {
		return web.Answer{}, err
	}
	v.SelectTeam(p.Team)
	path, settings := callSigningPath(p), page.ProjectPath(p.Name)+"/settings"
	m := projects.CallSigning{
		Page: v.Shell("Signed calls", path, page.ProjectsCrumb(), page.ProjectCrumb(p),
			ui.Crumb{Text: "Settings", URL: settings}, ui.Crumb{Text: "Signed calls"}),
		BackURL: settings,
	}
	if signing.DirectoryURL != nil {
		m.DirectoryURL = *signing.DirectoryURL
	}
	for _, k := range signing.Keys {
		m.Keys = append(m.Keys, projects.SigningKeyRow{
			ID:    k.ID,
			State: signingBadge(k.State),
			From:  k.SignsFrom,
			Until: page.TimeOf(k.PublishedUntil),
		})
	}
	if v.Who.May(p.Team, access.ProjectUpdate) {
		m.Manage = h.callSigningForms(v, p, signing.Enabled)
		v.Refuse(wrong, &m.Manage.Rotate, &m.Manage.Disable)
		m.Manage.Error = wrong.Rest()
	}
	return web.Answer{Status: max(wrong.Status, http.StatusOK), Page: projects.CallSigningPage(m)}, nil
}

func (h *Handler) callSigningForms(v *page.Visit, p rules.Project, enabled bool) *projects.CallSigningManage {
	path := callSigningPath(p)
	if !enabled {
		return &projects.CallSigningManage{EnableAction: path}
	}
	callers := h.callersOf(v, p, "", "")
	return &projects.CallSigningManage{
		Rotations: []ui.Option{
			{Value: "later", Title: "In an hour, so that upstreams can fetch it first", Chosen: true},
			{Value: "now", Title: "Immediately, and withdraw the old keys"},
		},
		Rotate: ui.Confirmation{
			ID:     "signing-rotate",
			Action: path + "/rotate",
			Verb:   "Rotate",
			Kind:   "key",
			Name:   p.DisplayName,
			Impact: append(slices.Clone(callers), "Upstreams that haven't fetched the new key by the time it starts "+
				"signing will refuse all calls. The old keys will stay published for another day, unless you "+
				"withdraw them."),
			Undo:     "You can't go back to an old key.",
			ByButton: true,
		},
		Disable: ui.Confirmation{
			ID:     "signing-disable",
			Action: path + "/disable",
			Verb:   "Stop",
			Kind:   "signing",
			Name:   p.DisplayName,
			Tick:   "Stop signing calls and delete the keys",
			Impact: append(slices.Clone(callers), "Upstreams that require a signature will refuse all calls."),
			Undo:   "The keys can't be recovered. If you turn on signing again, upstreams will have to fetch new keys.",
		},
	}
}

func signingBadge(state string) ui.Badge {
	switch state {
	case contract.SigningKeyPending:
		return ui.Badge{Tone: ui.Plain, Text: "published"}
	case contract.SigningKeySigning:
		return ui.Badge{Tone: ui.Good, Text: "signs"}
	}
	return ui.Badge{Tone: ui.Plain, Text: "former"}
}

// callSigningChanged answers a form of the page.
func (h *Handler) callSigningChanged(v *page.Visit, err error, flash string) (web.Answer, error) {
	if wrong, ok := page.ErrorsIn(err); ok {
		return h.callSigningWith(v, wrong)
	}
	if err != nil {
		return web.Answer{}, err
	}
	return v.Done(flash, page.ProjectPath(v.Param("project"))+"/call-signing", v.Param("project"))
}

func (h *Handler) enableCallSigning(v *page.Visit) (web.Answer, error) {
	_, err := h.Projects.EnableCallSigning(v.Ctx(), v.Who, projectIn(v))
	return h.callSigningChanged(v, err, "call_signing")
}

func (h *Handler) rotateCallSigningKey(v *page.Visit) (web.Answer, error) {
	in := contract.SigningKeyRotation{ProjectPath: projectIn(v)}
	if v.Posted("when") == "now" {
		in.Body = &contract.SigningRotation{SignsInSeconds: new(int64), GraceSeconds: new(int64)}
	}
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	err = v.Allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.Confirmed("Confirm that you want to rotate the key.")
	}
	if err == nil {
		_, err = h.Projects.RotateSigningKey(v.Ctx(), v.Who, in)
	}
	return h.callSigningChanged(v, err, "call_signing_key")
}

func (h *Handler) disableCallSigning(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	err = v.Allowed(p, access.ProjectUpdate)
	if err == nil {
		err = v.Confirmed("Check the box to stop signing.")
	}
	if err == nil {
		_, err = h.Projects.DisableCallSigning(v.Ctx(), v.Who, p.Path())
	}
	return h.callSigningChanged(v, err, "call_signing_gone")
}
