package exports

import (
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/movein"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/views/exports"
	"postern/views/projects"
	"postern/views/ui"
)

// planPath is the path of a plan, or of an import that was applied.
func planPath(id string) string { return projects.ImportPath + "/" + url.PathEscape(id) }

func importIn(v *page.Visit) contract.ImportPath {
	return contract.ImportPath{Import: v.Param("import")}
}

func importCrumb() ui.Crumb { return ui.Crumb{Text: "Import", URL: projects.ImportPath} }

// createPlan plans the import of the posted files into the chosen team.
func (h *Handler) createPlan(v *page.Visit) (web.Answer, error) {
	in := contract.NewImport{Team: v.Who.HomeTeam}
	files := web.GatewayFiles{ForZips: "This is a zip. Import it with the form for exported zips."}
	err := h.Imports.Allow(v.Who, in)
	if err == nil {
		err = h.receiveGatewayFiles(v, &files)
	}
	if err != nil {
		return h.planRefused(v, err)
	}
	// The form is the same again if its files are.
	v.Gin.Request.PostForm.Set("sha256", fmt.Sprintf("%x", files.SHA256()))
	a, err := v.Once(func(v *page.Visit) (web.Answer, error) {
		plan, err := h.Plans.Create(v.Ctx(), v.Who, in, files.All)
		return web.Redirect(planPath(plan.ID)), err
	})
	if err != nil {
		return h.planRefused(v, err)
	}
	return a, nil
}

// receiveGatewayFiles reads the form of a plan. It isn't parsed as others are, which would write its secrets into a
// temporary file with a name.
func (h *Handler) receiveGatewayFiles(v *page.Visit, files *web.GatewayFiles) error {
	parts, err := v.Gin.Request.MultipartReader()
	if err != nil {
		return noGatewayFile(err)
	}
	v.Gin.Request.PostForm = url.Values{}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF) && len(files.All) == 0:
			return noGatewayFile(nil)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fault.New(fault.Malformed, "upload_broken",
				"The upload was interrupted. Try again.").Because(err)
		case part.FormName() == "file":
			err = h.receiveGatewayFile(v, part, files)
		default:
			err = readImportField(part, v.Gin.Request.PostForm)
		}
		if err != nil {
			return err
		}
	}
}

func noGatewayFile(cause error) error {
	return fault.InvalidField("/file", "no_file", "Choose a file from another gateway.").Because(cause)
}

func (h *Handler) receiveGatewayFile(v *page.Visit, part *multipart.Part, files *web.GatewayFiles) error {
	file, err := h.Web.Receive(v.Gin.Writer, v.Gin.Request, part)
	if err != nil {
		return err
	}
	defer file.Close()
	if file.Size == 0 && part.FileName() == "" { // browsers send this if no file is chosen
		return nil
	}
	return files.Add(part.FileName(), io.NewSectionReader(file, 0, file.Size))
}

// planRefused shows the form with what was wrong with the files.
func (h *Handler) planRefused(v *page.Visit, err error) (web.Answer, error) {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Kind == fault.Internal || refused.Kind == fault.Unauthenticated ||
		refused.Kind == fault.Forbidden || refused.Kind == fault.NotFound {
		return web.Answer{}, err
	}
	m := h.importPage(v)
	m.PlanError = refused.Public
	return web.Answer{Status: max(web.StatusOf(refused.Kind), http.StatusBadRequest), Page: projects.ImportPage(m)}, nil
}

// showPlan shows a plan, or an import that was applied.
func (h *Handler) showPlan(v *page.Visit) (web.Answer, error) {
	if contract.IsAppliedImport(v.Param("import")) {
		return h.showApplied(v, http.StatusOK, "")
	}
	plan, err := h.Plans.Get(v.Ctx(), v.Who, importIn(v))
	if err != nil {
		return web.Answer{}, err
	}
	return web.Show(exports.PlanPage(h.planModel(v, &plan))), nil
}

func (h *Handler) planModel(v *page.Visit, plan *contract.PlannedImport) exports.Plan {
	v.SelectTeam(plan.Team)
	path := planPath(plan.ID)
	m := exports.Plan{
		Page:   v.Shell("Import plan", path, page.ProjectsCrumb(), importCrumb(), ui.Crumb{Text: "Plan"}),
		Plan:   plan,
		Action: path,
		Ledger: exports.Ledger{LedgerTotals: contract.LedgerTotals{
			LedgerCounts: plan.Summary, Configured: plan.Summary,
		}},
		Sections: ledgerSections(movein.NameSettingsIn(plan.Ledger, exports.SettingLabels()), true),
		Expires:  plan.ExpiresAt,
		Name:     ui.Value{Text: plan.Name},
		Hosts:    ui.Value{Text: strings.Join(plan.Hosts, "\n")},
		Trust:    ui.Value{Text: strings.Join(plan.Trust, "\n")},
		ByHand:   byHandFacts(&plan.ByHand),
		Open: ui.Group{
			ID: "plan-open", Name: "open", Legend: exports.OpenLabel,
			Hint: "Calls to these routes and from these consumers are refused because some of their checks can't be " +
				"imported. Select the ones to allow without these checks.",
		},
	}
	addTargets(&m, plan)
	for _, one := range plan.ByHand.Placeholders {
		m.Unset = append(m.Unset, exports.Unset{ImportPlaceholder: one})
	}
	for _, note := range plan.Notes {
		m.Notes = append(m.Notes, movein.NameSettings(note.Detail, exports.SettingLabels()))
	}
	for _, name := range plan.Open {
		m.Open.Options = append(m.Open.Options, ui.Option{Value: name, Title: nameOfOpened(plan, name), Chosen: true})
	}
	for _, c := range plan.Closed {
		if c.Open == "" {
			m.Stuck = append(m.Stuck, c)
			continue
		}
		m.Open.Options = append(m.Open.Options, ui.Option{
			Value: c.Pointer, Title: fmt.Sprintf("%s %s (%s)", c.Kind, c.Name, c.Place()),
			Text: strings.Join(c.Reasons, "; "),
		})
	}
	return m
}

// nameOfOpened returns what people call an entity that a choice opens.
func nameOfOpened(plan *contract.PlannedImport, name string) string {
	for i := range plan.Items {
		if item := &plan.Items[i]; item.Pointer == name {
			return fmt.Sprintf("%s %s (%s)", item.Kind, strings.TrimPrefix(item.Name, item.Kind+" "), item.Place())
		}
	}
	return name
}

func byHandFacts(by *contract.ImportByHand) (facts []ui.Fact) {
	for _, one := range []struct {
		label string
		list  []string
	}{
		{"Host names that need DNS records and certificates", by.Hosts},
		{"Addresses to add to POSTERN_EGRESS_ALLOW", by.EgressCIDRs},
		{"Targets whose private addresses may need to be added to POSTERN_EGRESS_ALLOW", by.EgressNames},
		{"Host names with certificates in the files", by.Certificates},
	} {
		if len(one.list) > 0 {
			facts = append(facts, ui.Fact{Label: one.label, Value: strings.Join(one.list, ", ")})
		}
	}
	return facts
}

// pointerEscape escapes a name in a JSON Pointer (RFC 6901).
var pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")

// changePlan changes the choices for a plan.
func (h *Handler) changePlan(v *page.Visit) (web.Answer, error) {
	in := contract.ImportPlanUpdate{ImportPath: importIn(v), Condition: v.Condition()}
	v.Fill(&in.Body, "name", "open", "hosts", "trust", "theirs", "allow_weak", "retry_on_timeout")
	in.Body.Set = map[string]contract.Secret{}
	names, values := v.Gin.Request.PostForm["placeholder"], v.Gin.Request.PostForm["placeholder_value"]
	for i, name := range names[:min(len(names), len(values))] {
		if values[i] != "" {
			in.Body.Set[name] = contract.Secret(values[i])
		}
	}
	_, err := h.Plans.Update(v.Ctx(), v.Who, in)
	if err == nil {
		return v.Done("plan", planPath(in.Import))
	}
	wrong, ok := planErrors(err)
	if !ok {
		return web.Answer{}, err
	}
	plan, err := h.Plans.Get(v.Ctx(), v.Who, in.ImportPath)
	if err != nil {
		return web.Answer{}, err
	}
	if wrong.Status != http.StatusPreconditionFailed {
		plan.Theirs, plan.AllowWeak = *in.Body.Theirs, *in.Body.AllowWeak
		plan.RetryOnTimeout = *in.Body.RetryOnTimeout
	}
	m := h.planModel(v, &plan)
	m.Error = wrong.Public
	if wrong.Status != http.StatusPreconditionFailed {
		keepChoices(&m, &in.Body, wrong)
	}
	return web.Answer{Status: wrong.Status, Page: exports.PlanPage(m)}, nil
}

// planErrors is page.ErrorsIn, also for a plan that was changed since it was shown.
func planErrors(err error) (*page.Errors, bool) {
	if fault.KindOf(err) == fault.Stale {
		return &page.Errors{
			Status: http.StatusPreconditionFailed,
			Public: "The plan has changed since you opened this page. The page now shows the new plan. Try again.",
		}, true
	}
	return page.ErrorsIn(err)
}

// keepChoices shows what was typed and chosen, with its mistakes.
func keepChoices(m *exports.Plan, change *contract.ImportPlanChange, wrong *page.Errors) {
	m.Name = wrong.Value("/name", *change.Name)
	m.Hosts = wrong.Lines("/hosts", strings.Join(*change.Hosts, "\n"))
	m.Trust = wrong.Lines("/trust", strings.Join(*change.Trust, "\n"))
	m.Open.Error = wrong.Take("/open")
	for i := range m.Open.Options {
		m.Open.Options[i].Chosen = slices.Contains(*change.Open, m.Open.Options[i].Value)
	}
	for i := range m.Unset {
		m.Unset[i].Error = wrong.Take("/set/" + pointerEscape.Replace(m.Unset[i].Name))
	}
	m.Error = wrong.Rest()
}

// applyPlan writes what the page has shown.
func (h *Handler) applyPlan(v *page.Visit) (web.Answer, error) {
	in := contract.ImportApplication{ImportPath: importIn(v), Condition: v.Condition()}
	did, err := h.Plans.Apply(v.Ctx(), v.Who, in)
	switch {
	case err == nil && did.ID == "":
		return v.Done("moved_in_same", projects.ImportPath)
	case err == nil && slices.ContainsFunc(did.Projects, refuses):
		return v.Done("moved_in_closed", planPath(did.ID))
	case err == nil:
		return v.Done("moved_in", planPath(did.ID))
	}
	wrong, ok := planErrors(err)
	if !ok {
		return web.Answer{}, err
	}
	plan, err := h.Plans.Get(v.Ctx(), v.Who, in.ImportPath)
	if err != nil {
		return web.Answer{}, err
	}
	m := h.planModel(v, &plan)
	m.Refused = wrong.Rest()
	return web.Answer{Status: wrong.Status, Page: exports.PlanPage(m)}, nil
}

// refuses reports whether a version of a project was created to refuse every call.
func refuses(p contract.MovedProject) bool { return len(p.Closed) > 0 }

// deletePlan deletes a plan and its files.
func (h *Handler) deletePlan(v *page.Visit) (web.Answer, error) {
	path := planPath(v.Param("import"))
	if v.HasConfirmed() {
		if _, err := h.Plans.Delete(v.Ctx(), v.Who, importIn(v)); err != nil {
			return web.Answer{}, err
		}
		return v.Done("plan_gone", projects.ImportPath)
	}
	if err := h.Plans.MayRead(v.Ctx(), v.Who, importIn(v)); err != nil {
		return web.Answer{}, err
	}
	return v.AskConfirmation(ui.ConfirmationView{
		Page: v.Shell("Delete the plan", path, page.ProjectsCrumb(), importCrumb(),
			ui.Crumb{Text: "Plan", URL: path}, ui.Crumb{Text: "Delete"}),
		Title: "Delete the plan",
		Confirm: ui.Confirmation{
			Verb: "Delete", Kind: "plan", ByButton: true,
			Impact: []string{"The plan and the files that you uploaded will be deleted. Your projects won't change."},
			Undo:   "You can upload the files again.",
		},
		BackURL: path, Back: "Back to the plan",
	})
}

// downloadPlan answers with the whole plan.
func (h *Handler) downloadPlan(v *page.Visit) (web.Answer, error) {
	web.ServeFile(h.Web, v.Gin, contract.DownloadImportPlan, importIn(v), h.Plans.Download, h.Plans.MayRead)
	return web.Answer{}, nil
}
