package pages_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"postern/service/access"
	"postern/testkit"
	"postern/testkit/controlplane"
	"postern/testkit/state"
	"postern/views/ui"
)

func TestImportPage(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	zip := exported(t, s)
	s.Get("/projects").Says("a[href='/imports']", "Import")
	s.Get("/imports").Shows(200, "Import a project").Says("main", "Postern verifies the zip before")

	sendZip(t, s, "/imports/preview", "", nil).Shows(422, "Import a project").
		Says("#import-zip-error", "Choose an exported zip")
	sendZip(t, s, "/imports/preview", "", []byte("no zip")).Shows(422, "Import a project").
		Says("#import-zip-error", "zip")
	sendZip(t, s, "/imports/preview", "", zip).Shows(409, "Import a project").
		Says("#import-name-error", "taken")
	broken := bytes.Clone(zip)
	broken[len(broken)/2] ^= 1
	sendZip(t, s, "/imports/preview", "copy", broken).Shows(422, "Import a project")

	found := sendZip(t, s, "/imports/preview", "copy", zip).Shows(200, "Import a project").
		Says("#import-answer h2", "copy will contain").
		Says("#import-answer", "Differences from the original")
	if value, _ := found.Find("#import-name").Attr("value"); value != "copy" {
		t.Errorf("the name typed is %q", value)
	}
	confirm := found.Find("#import-answer button").AttrOr("formaction", "")
	s.Get("/projects/copy").Shows(404, "Page not found")

	other := "/imports?sha256=" + strings.Repeat("0", 64)
	sendZip(t, s, other, "copy", zip).Shows(422, "Import a project")
	for _, unchecked := range []string{"/imports", "/imports?sha256=x"} {
		sendZip(t, s, unchecked, "copy", zip).Shows(422, "Import a project").
			Says("#import-zip-error", "Preview the import first")
	}
	s.Get("/projects/copy").Shows(404, "Page not found")

	sendZip(t, s, confirm, "copy", zip).LeadsTo("/projects/copy")
	s.Get("/projects/copy").Says("body", "Imported shop")
	sendZip(t, s, confirm, "copy", zip).Shows(409, "Import a project").
		Says("#import-name-error", "taken")
}

// A form that is sent twice, such as after a step back, leads to the project that it made. One
// whose fields changed in between is another.
func TestImportForm_sentAgain(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	zip := exported(t, s)
	found := sendZip(t, s, "/imports/preview", "copy", zip).Shows(200, "Import a project")
	confirm := found.Find("#import-answer button").AttrOr("formaction", "")
	nonce := []string{ui.NonceField, found.Value("#import-form [name=" + ui.NonceField + "]")}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if got := sendZip(t, s, confirm, "copy", zip, nonce...); got.Status != 303 ||
				got.Header.Get("Location") != "/projects/copy" {
				t.Errorf("at once: %d to %q", got.Status, got.Header.Get("Location"))
			}
		})
	}
	both.Wait()
	sendZip(t, s, confirm, "copy", zip, nonce...).LeadsTo("/projects/copy")
	s.Get("/projects").Says("main", "copy")
	sendZip(t, s, confirm, "shop", zip, nonce...).Shows(409, "Import a project").
		Says("#import-name-error", "taken")
	sendZip(t, s, confirm, "second", zip, nonce...).LeadsTo("/projects/second")

	sendZip(t, s, confirm, "third", zip, ui.NonceField, "invented").Shows(422, "Import a project").
		Says("#import-zip-error", "before you signed in")
	s.Get("/projects/third").Shows(404, "Page not found")
}

// Fields after the zip, and unknown fields, are refused and not silently ignored.
func TestImportForm_unknownFields(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	zip := exported(t, s)
	body, kind := zipForm(t, "copy", zip)
	boundary := strings.TrimPrefix(kind, "multipart/form-data; boundary=")
	late := strings.TrimSuffix(body, "--\r\n") + "\r\nContent-Disposition: form-data; name=\"name\"\r\n\r\nlate\r\n--" +
		boundary + "--\r\n"
	s.Do(http.MethodPost, "/imports/preview", late, []string{"Content-Type", kind}).Shows(400, "Import a project").
		Says("#import-zip-error", "extra fields after the zip")
	sendZip(t, s, "/imports/preview", "copy", zip, "names", "x").Shows(400, "Import a project").
		Says("#import-zip-error", "a field is unknown")
	sendZip(t, s, "/imports/preview", "copy", zip, "name", "other").Shows(400, "Import a project").
		Says("#import-zip-error", "repeated")
}

// Zips that this server cannot read say why, and what to do.
func TestImportPage_unreadableZips(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s, _ := controlplane.NewOwnerWithShop(t, db)
	whole := exported(t, s)
	for name, tt := range testkit.ByName(map[string]struct {
		change func(*zip.FileHeader, []byte) []byte
		says   string
	}{
		"unknown edition": {
			func(f *zip.FileHeader, content []byte) []byte {
				if f.Name != "MANIFEST.json" {
					return content
				}
				return regexp.MustCompile(`"postern-bundle/\d+"`).ReplaceAll(content,
					[]byte(`"postern-bundle/999"`))
			},
			`the zip has edition "999", but this version of Postern reads edition 1`,
		},
		"encrypted part": {
			func(f *zip.FileHeader, content []byte) []byte {
				if f.Name == "project-config.json" {
					f.Flags |= 1
				}
				return content
			},
			"project-config.json: it is encrypted",
		},
	}) {
		t.Run(name, func(t *testing.T) {
			s := s.WithT(t)
			sendZip(t, s, "/imports/preview", "copy", rewritten(t, whole, tt.change)).Shows(422,
				"Import a project").
				Says("#import-zip-error", tt.says).
				Lacks("#import-answer button")
			s.Get("/projects/copy").Shows(404, "Page not found")
		})
	}
}

// rewritten returns the zip with every file as change leaves it, and the checksums of that.
func rewritten(t *testing.T, whole []byte, change func(*zip.FileHeader, []byte) []byte) []byte {
	t.Helper()
	from, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	must(t, err)
	contents := map[string][]byte{}
	for _, f := range from.File {
		r, err := f.Open()
		must(t, err)
		contents[f.Name], err = io.ReadAll(r)
		must(t, err)
	}
	sums := contents["SHA256SUMS"]
	var out bytes.Buffer
	to := zip.NewWriter(&out)
	headers := map[string]*zip.FileHeader{}
	for _, f := range from.File {
		header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: f.Modified}
		header.SetMode(f.Mode())
		before := fmt.Sprintf("%x", sha256.Sum256(contents[f.Name]))
		contents[f.Name] = change(header, contents[f.Name])
		after := fmt.Sprintf("%x", sha256.Sum256(contents[f.Name]))
		sums = bytes.ReplaceAll(sums, []byte(before), []byte(after))
		headers[f.Name] = header
	}
	contents["SHA256SUMS"] = sums
	for _, f := range from.File {
		if f.Name == "SHA256SUMS.sig" {
			continue // of the sums before the change
		}
		w, err := to.CreateHeader(headers[f.Name])
		must(t, err)
		_, err = w.Write(contents[f.Name])
		must(t, err)
	}
	must(t, to.Close())
	return out.Bytes()
}

func TestImportPage_viewer(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	o := controlplane.NewFixture(t, db)
	viewer := o.Members[access.Viewer]
	page := o.Do(t, "GET", "/imports", "", viewer)
	if page.Status != 200 || !strings.Contains(page.Raw, "You&#39;re a viewer on this team.") ||
		strings.Contains(page.Raw, "import-form") {
		t.Errorf("%d: the page does not say why there is no form", page.Status)
	}
	if list := o.Do(t, "GET", "/projects", "", viewer); strings.Contains(list.Raw, `href="/imports"`) {
		t.Error("the list of projects leads a viewer to the import")
	}
	body, kind := zipForm(t, "copy", []byte("any"))
	for _, path := range []string{"/imports/preview", "/imports?sha256=" + strings.Repeat("0", 64)} {
		header := append([]string{"Content-Type", kind, "Accept", "text/html"}, viewer...)
		got := controlplane.Call(t, o.Handler, "POST", path, "", body, header...)
		if got.Status != 403 || !strings.Contains(got.Raw, "role") ||
			strings.Contains(got.Raw, `action="/imports`) {
			t.Errorf("POST %s: %d, want 403 with the reason and no form", path, got.Status)
		}
	}
}

// A team without projects is offered the import next to the first project.
func TestProjectsPage_emptyList(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	s := controlplane.NewOwner(t, db)
	s.Get("/projects").Says("main", "No projects yet").
		Says("h2 ~ div a[href='/imports']", "Import a project")
}

// exported returns the zip of shop as data.
func exported(t *testing.T, s *controlplane.Browser) []byte {
	t.Helper()
	path := s.Post("/projects/shop/export", "format", "data", "consumers", "true").Header.Get("Location")
	if err := s.Server.Exports.Build(t.Context(), strings.TrimPrefix(path, "/exports/"), true); err != nil {
		t.Fatal(err)
	}
	page := s.Get(path + "/download")
	if page.Status != http.StatusOK {
		t.Fatalf("download: %d", page.Status)
	}
	return []byte(page.Raw)
}

// sendZip posts the form of an import as a browser does, with more fields in pairs. Without a
// zip the file is empty.
func sendZip(t *testing.T, s *controlplane.Browser, path, name string, zip []byte, more ...string) *controlplane.Page {
	t.Helper()
	body, kind := zipForm(t, name, zip, more...)
	return s.Do(http.MethodPost, path, body, []string{"Content-Type", kind})
}

func zipForm(t *testing.T, name string, zip []byte, more ...string) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	must(t, form.WriteField("name", name))
	for i := 0; i < len(more); i += 2 {
		must(t, form.WriteField(more[i], more[i+1]))
	}
	file, err := form.CreateFormFile("zip", "shop-data.zip")
	must(t, err)
	_, err = io.Copy(file, bytes.NewReader(zip))
	must(t, err)
	must(t, form.Close())
	return out.String(), form.FormDataContentType()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
