package handlers_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"postern/handlers/page"
	"postern/models"
	"postern/service/access"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

// TestPages_viewer walks every page as a viewer: no form may lead to a route that
// refuses viewers. Forms of the viewer's own account stay.
func TestPages_viewer(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		o := controlplane.NewFixture(t, db)
		posts, gets := pageRoutes(o, http.MethodPost), pageRoutes(o, http.MethodGet)
		viewer := o.Members[access.Viewer]
		walked := 0
		for _, route := range controlplane.Routes(o.Server) {
			want := guards[route.Method+" "+route.Path]
			if route.Method != http.MethodGet || controlplane.IsAPI(route.Path) ||
				strings.HasPrefix(route.Path, "/oauth/") ||
				want.open ||
				want.operator {
				continue
			}
			t.Run(route.Path, func(t *testing.T) {
				has := o.NewAllObjects(t, want.needs, route.Path)
				got := o.Do(t, http.MethodGet, has.Path(route.Path), "", viewer)
				if got.Status != http.StatusOK {
					return // refused, which TestRoutes_authorization covers
				}
				walked++
				page, err := goquery.NewDocumentFromReader(strings.NewReader(got.Raw))
				if err != nil {
					t.Fatal(err)
				}
				if page.Find("fieldset[disabled] [data-copy]").Length() > 0 {
					t.Error("a button that copies is disabled with the settings around it")
				}
				for _, path := range submits(page) {
					if action := actionOf(posts, path); refusesViewers(action) {
						t.Errorf("a viewer is offered POST %s, which needs %q", path, action)
					}
				}
				for _, path := range links(page) {
					if action := actionOf(gets, path); action != "" && refusesViewers(action) {
						t.Errorf("a viewer is led to %s, which needs %q", path, action)
					}
				}
			})
		}
		if walked < 30 {
			t.Errorf("walked %d pages, want all that a viewer can open", walked)
		}
	})
}

// submits lists the paths that the forms and buttons of a page post to.
func submits(page *goquery.Document) (paths []string) {
	page.Find("form[method=post]").Each(func(_ int, form *goquery.Selection) {
		paths = append(paths, form.AttrOr("action", ""))
	})
	page.Find("[formaction], [hx-post]").Each(func(_ int, button *goquery.Selection) {
		paths = append(paths, button.AttrOr("formaction", button.AttrOr("hx-post", "")))
	})
	return paths
}

// links lists the paths on this server that a page leads to.
func links(page *goquery.Document) (paths []string) {
	page.Find("a[href^='/']").Each(func(_ int, link *goquery.Selection) {
		path, _, _ := strings.Cut(link.AttrOr("href", ""), "#")
		paths = append(paths, path)
	})
	return paths
}

// refusesViewers reports whether an action of a route is denied to viewers. The
// empty action is that of an unknown route, which no form may lead to.
func refusesViewers(action access.Action) bool {
	return !guard{action: action}.personal() && !access.Can(access.Viewer, action) && action != open
}

// open stands for the action of a route without a guard.
const open access.Action = "open"

// pageRoute is a route of a page or form and the action that it asks for.
type pageRoute struct {
	pattern string
	path    *regexp.Regexp
	action  access.Action
}

func pageRoutes(o *controlplane.Fixture, method string) (list []pageRoute) {
	for _, route := range controlplane.Routes(o.Server) {
		if route.Method != method || controlplane.IsAPI(route.Path) {
			continue
		}
		pattern := regexp.MustCompile(`:[a-z_]+`).ReplaceAllString(route.Path, `[^/]+`)
		want := guards[method+" "+route.Path]
		if want.open {
			want.action = open
		}
		list = append(list, pageRoute{route.Path, regexp.MustCompile("^" + pattern + "$"), want.action})
	}
	return list
}

func actionOf(routes []pageRoute, path string) access.Action {
	path, _, _ = strings.Cut(path, "?")
	for _, route := range routes {
		if route.path.MatchString(path) {
			return route.action
		}
	}
	return ""
}

// TestForm_loweredRole sends a form that was opened as a member and is sent
// as a viewer.
func TestForm_loweredRole(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	has := o.NewObjects(t, "", "")
	path := has.Path("/projects/:project/versions/:version/environments/:environment/upstream-headers")
	body := "name=X-Source&typed_name=&secret_value=hunter2hunter2"
	got := o.Do(t, http.MethodPost, path, body, o.Members[access.Viewer])
	page, err := goquery.NewDocumentFromReader(strings.NewReader(got.Raw))
	if err != nil {
		t.Fatal(err)
	}
	if reason := controlplane.Clean(page.Find("main").Text()); got.Status != http.StatusForbidden ||
		!strings.Contains(reason, "role") {
		t.Errorf("%d %q, want 403 with the reason", got.Status, reason)
	}
	form := page.Find("form[action='" + path + "']")
	for name, want := range map[string]string{
		"name":         "X-Source",
		"secret_value": "",
	} {
		if value, ok := form.Find("[name='" + name + "']").Attr("value"); !ok || value != want {
			t.Errorf("field %s holds %q, want %q", name, value, want)
		}
	}
	if strings.Contains(got.Raw, "hunter2hunter2") {
		t.Error("the page repeats a secret")
	}
	if kind := form.Find("[name=typed_name]").AttrOr("type", ""); kind != "hidden" {
		t.Errorf("the field that was left empty is of type %q, want hidden", kind)
	}
}

// TestForm_refusedSecrets sends forms as a viewer, under the field names of the owner's page: the
// refused form does not repeat the secrets in them.
func TestForm_refusedSecrets(t *testing.T) {
	t.Parallel()
	const pem = "-----BEGIN PRIVATE KEY-----\nhunter2hunter2\n-----END PRIVATE KEY-----\n"
	for _, tt := range []struct {
		name   string
		page   string
		field  string // selector on the page
		secret string
		blank  string // what the refused form has instead
	}{
		{"value of an upstream header", "upstream-headers", "#header-value", "hunter2hunter2", "input[type=password]"},
		{"private key of a certificate", "client-certificate", "#client-key", pem, "textarea"},
		{"private key in the certificate", "client-certificate", "#client-certificate", pem, "textarea"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db := state.OpenSQLite(t)
			o := controlplane.NewFixture(t, db)
			has := o.NewObjects(t, "https target", "")
			path := has.Path("/projects/:project/versions/:version/environments/:environment/" + tt.page)
			shown := parsed(t, o.Do(t, http.MethodGet, path, "", o.Owner).Raw)
			name := shown.Find(tt.field).AttrOr("name", "")
			got := o.Do(t, http.MethodPost, path, url.Values{name: {tt.secret}}.Encode(), o.Members[access.Viewer])
			if got.Status != http.StatusForbidden {
				t.Errorf("answered %d, want 403", got.Status)
			}
			if parsed(t, got.Raw).Find(tt.blank+"[name='"+name+"']").Length() != 1 {
				t.Errorf("the form has no %s to enter %s again", tt.blank, name)
			}
			if strings.Contains(got.Raw, "hunter2hunter2") {
				t.Error("the page repeats the secret")
			}
		})
	}
}

func parsed(t *testing.T, page string) *goquery.Document {
	t.Helper()
	document, err := goquery.NewDocumentFromReader(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	return document
}

// TestForm_refusedLabels walks every page: a field of a refused form has the label that
// the field has on its page, or one of them where several pages have it.
func TestForm_refusedLabels(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	labels := map[string][]string{}
	for _, route := range controlplane.Routes(o.Server) {
		want := guards[route.Method+" "+route.Path]
		if route.Method != http.MethodGet || controlplane.IsAPI(route.Path) || want.open || want.operator {
			continue
		}
		has := o.NewAllObjects(t, want.needs, route.Path)
		got := o.Do(t, http.MethodGet, has.Path(route.Path), "", o.Owner)
		page, err := goquery.NewDocumentFromReader(strings.NewReader(got.Raw))
		if err != nil {
			t.Fatal(err)
		}
		fields := page.Find("form[method=post]").Find("input[name]:not([type=hidden]), select, textarea")
		fields.Each(func(_ int, field *goquery.Selection) {
			name := field.AttrOr("name", "")
			labels[name] = append(labels[name], labelOf(page, field))
		})
	}
	if len(labels) < 50 {
		t.Errorf("found %d fields, want those of every page", len(labels))
	}
	for name, known := range labels {
		onOnePage := []string{"confirm", "enabled", "placeholder_value"} // labels that mean something there only
		if slices.Contains(onOnePage, name) || strings.HasPrefix(name, "limits_") {
			continue
		}
		if label := page.FieldLabel(name); !slices.Contains(known, label) {
			t.Errorf("field %s is labeled %q, on its pages %q", name, label, slices.Compact(known))
		}
	}
}

// labelOf is the label of a field, that of the group for one of several choices.
func labelOf(page *goquery.Document, field *goquery.Selection) string {
	legend := field.Closest("fieldset").Find("legend").First()
	if kind := field.AttrOr("type", ""); legend.Length() > 0 && (kind == "radio" || kind == "checkbox") {
		return controlplane.Clean(legend.Text())
	}
	label := page.Find("label[for='" + field.AttrOr("id", "") + "']").First()
	label.Find(".hint").Remove()
	return strings.TrimSuffix(controlplane.Clean(label.Text()), " optional")
}

// TestForm_otherSite checks that a refused form of another site is not offered for
// sending it from here.
func TestForm_otherSite(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	has := o.NewObjects(t, "", "")
	caller := append([]string{"Sec-Fetch-Site", "cross-site"}, o.Owner...)
	path := "/projects/" + has.ProjectName + "/keys"
	got := o.Do(t, http.MethodPost, path, "owner=mallory", caller)
	if got.Status != http.StatusForbidden || strings.Contains(got.Raw, path) ||
		strings.Contains(got.Raw, "mallory") {
		t.Errorf("%d %.300q, want 403 without the form", got.Status, got.Raw)
	}
}
