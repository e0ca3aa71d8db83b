package exports

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
	"postern/platform/fault"
	"postern/service/access"
	"postern/views/projects"
	"postern/views/ui"
)

func (h *Handler) showImport(v *page.Visit) (web.Answer, error) {
	m := h.importPage(v)
	if m.Denied {
		return web.Show(projects.ImportPage(m)), nil
	}
	earlier, err := h.Plans.List(v.Ctx(), v.Who, contract.ImportList{Team: v.Who.HomeTeam})
	for _, one := range earlier.Items {
		m.Earlier = append(m.Earlier, projects.EarlierImport{
			URL: planPath(one.ID), Name: one.Name, State: one.State, Created: one.CreatedAt,
			Expires: page.TimeOf(one.ExpiresAt),
		})
	}
	return web.Show(projects.ImportPage(m)), err
}

func (h *Handler) importPage(v *page.Visit) projects.Import {
	return projects.Import{
		Page:   v.Shell("Import a project", projects.ImportPath, page.ProjectsCrumb(), ui.Crumb{Text: "Import"}),
		Team:   v.Account.Team,
		Denied: !v.Who.May(v.Who.HomeTeam, access.ProjectImport),
	}
}

// previewImport shows what an import of the posted zip would do.
func (h *Handler) previewImport(v *page.Visit) (web.Answer, error) {
	in, zip, err := h.receiveImport(v, true)
	if err != nil {
		return h.importRefused(v, in, err)
	}
	defer zip.Close()
	found, err := h.Imports.Import(v.Ctx(), v.Who, in, zip, zip.Size)
	if err != nil {
		return h.importRefused(v, in, err)
	}
	m := h.importPage(v)
	m.Name = ui.Value{Text: in.Name}
	m.Found = importFound(found)
	return web.Show(projects.ImportPage(m)), nil
}

// importProject imports the posted zip. A form that is sent again leads to the project that
// the first one made: its fields, with the zip's SHA-256, are known once the zip is received.
func (h *Handler) importProject(v *page.Visit) (web.Answer, error) {
	in, zip, err := h.receiveImport(v, false)
	if err != nil {
		return h.importRefused(v, in, err)
	}
	defer zip.Close()
	a, err := v.Once(func(v *page.Visit) (web.Answer, error) {
		found, err := h.Imports.Import(v.Ctx(), v.Who, in, zip, zip.Size)
		if err != nil {
			return web.Answer{}, err
		}
		return v.Done("imported", page.ProjectPath(found.Project.Name), found.Project.DisplayName)
	})
	if err != nil {
		return h.importRefused(v, in, err)
	}
	return a, nil
}

// receiveImport reads the form of an import into the chosen team, with its zip. The form is not
// parsed as others are, which would keep the zip in memory: its fields come before the file,
// and are posted fields for what follows.
func (h *Handler) receiveImport(v *page.Visit, dry bool) (contract.NewImport, *web.Upload, error) {
	in := contract.NewImport{Team: v.Who.HomeTeam, DryRun: dry}
	if !dry {
		in.SHA256 = v.Gin.Query("sha256")
	}
	err := h.Imports.Allow(v.Who, in)
	if fault.KindOf(err) == fault.Invalid || err == nil && !dry && in.SHA256 == "" {
		err = fault.InvalidField("/zip", "not_checked",
			"Preview the import first. You can import only a zip that you've previewed.")
	}
	if err != nil {
		return in, nil, err
	}
	parts, err := v.Gin.Request.MultipartReader()
	if err != nil {
		return in, nil, noZip(err)
	}
	v.Gin.Request.PostForm = url.Values{"sha256": {v.Gin.Query("sha256")}}
	for {
		part, err := parts.NextPart()
		switch {
		case errors.Is(err, io.EOF):
			return in, nil, noZip(nil)
		case err != nil:
			return in, nil, fault.New(fault.Malformed, "upload_broken",
				"The upload was interrupted. Try again.").Because(err)
		case part.FormName() == "zip":
			in.Name = contract.Slug(v.Posted("name"))
			zip, err := h.receiveZip(v, part)
			if err != nil {
				return in, nil, err
			}
			if _, err := parts.NextPart(); !errors.Is(err, io.EOF) {
				return in, nil, errors.Join(fault.New(fault.Malformed, "malformed",
					"The form couldn't be read because it has extra fields after the zip."), zip.Close())
			}
			return in, zip, nil
		}
		if err := readImportField(part, v.Gin.Request.PostForm); err != nil {
			return in, nil, err
		}
	}
}

func noZip(cause error) error {
	return fault.InvalidField("/zip", "no_zip", "Choose an exported zip.").Because(cause)
}

// maxImportField bounds a field of the form, in bytes.
const maxImportField = 1 << 10

func readImportField(part *multipart.Part, form url.Values) error {
	raw, err := io.ReadAll(io.LimitReader(part, maxImportField+1))
	if err != nil {
		return fault.New(fault.Malformed, "upload_broken", "The upload was interrupted. Try again.").Because(err)
	}
	text := strings.TrimSpace(string(raw))
	if len(raw) > maxImportField || !web.ValidText(text) {
		return fault.New(fault.Malformed, "malformed", "The form couldn't be read.")
	}
	name := part.FormName()
	if name != "name" && name != ui.NonceField || form.Has(name) {
		return fault.New(fault.Malformed, "malformed",
			"The form couldn't be read because a field is unknown or repeated.")
	}
	form.Set(name, text)
	return nil
}

func (h *Handler) receiveZip(v *page.Visit, part *multipart.Part) (*web.Upload, error) {
	zip, err := h.Web.Receive(v.Gin.Writer, v.Gin.Request, part)
	if err != nil {
		return nil, err
	}
	if zip.Size == 0 {
		return nil, errors.Join(noZip(nil), zip.Close())
	}
	return zip, nil
}

// importRefused shows the form with what was wrong. Refusals that are not of the form, such as of an upload that is too
// large, are shown in it too, so that it stays unchanged.
func (h *Handler) importRefused(v *page.Visit, in contract.NewImport, err error) (web.Answer, error) {
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok || refused.Kind == fault.Internal || refused.Kind == fault.Unauthenticated ||
		refused.Kind == fault.Forbidden || refused.Kind == fault.NotFound {
		return web.Answer{}, err
	}
	wrong := &page.Errors{Status: web.StatusOf(refused.Kind), Public: refused.Public}
	if known, ok := page.ErrorsIn(err); ok {
		wrong = known
	}
	m := h.importPage(v)
	m.Name = wrong.Value("/name", in.Name)
	m.Error = strings.TrimSpace(wrong.Take("/zip") + " " + wrong.Rest())
	if m.Error == "" && m.Name.Error == "" {
		m.Error = refused.Public
	}
	return web.Answer{Status: max(wrong.Status, http.StatusBadRequest), Page: projects.ImportPage(m)}, nil
}

func importFound(o contract.Import) *projects.ImportFound {
	found := &projects.ImportFound{Name: o.Project.Name, SHA256: o.SHA256}
	for _, count := range []struct {
		label string
		n     int64
	}{
		{"Versions", o.Made.Versions}, {"Environments", o.Made.Environments}, {"Key types", o.Made.KeyTypes},
		{"API keys", o.Made.Keys}, {"Tenants", o.Made.Tenants}, {"App clients", o.Made.AppClients},
		{"Providers", o.Made.Providers}, {"Groups", o.Made.Groups}, {"Users", o.Made.Users},
		{"Object owners", o.Made.Relations},
	} {
		found.Made = append(found.Made, ui.Fact{Label: count.label, Value: humanize.Comma(count.n)})
	}
	for _, item := range o.LeftOut {
		found.LeftOut = append(found.LeftOut, projects.ImportItem{
			Subject: item.Subject,
			Detail:  item.Detail,
			Title:   item.Title(),
		})
	}
	return found
}
