package pages_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

func TestImportPage(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		zip := exported(t, s)
		s.Get("/projects").Says("a[href='/imports']", "Import")
		s.Get("/imports").Shows(200, "Import a project").Says("main", "It is verified before")

		sendZip(t, s, "/imports/preview", "", nil).Shows(422, "Import a project").
			Says("#import-answer [role=alert]", "Choose the zip of an export")
		sendZip(t, s, "/imports/preview", "", []byte("no zip")).Shows(422, "Import a project").
			Says("#import-answer [role=alert]", "zip")
		sendZip(t, s, "/imports/preview", "", zip).Shows(409, "Import a project").
			Says("#import-answer [role=alert]", "taken")
		broken := bytes.Clone(zip)
		broken[len(broken)/2] ^= 1
		sendZip(t, s, "/imports/preview", "copy", broken).Shows(422, "Import a project")

		found := sendZip(t, s, "/imports/preview", "copy", zip).Shows(200, "Import a project").
			Says("#import-answer h2", "copy would have").
			Says("#import-answer", "What the zip cannot carry")
		if value, _ := found.Find("#import-name").Attr("value"); value != "copy" {
			t.Errorf("the name typed is %q", value)
		}
		confirm := found.Find("#import-answer button").AttrOr("formaction", "")
		s.Get("/projects/copy").Shows(404, "There is nothing here")

		other := "/imports?sha256=" + strings.Repeat("0", 64)
		sendZip(t, s, other, "copy", zip).Shows(422, "Import a project")
		for _, unchecked := range []string{"/imports", "/imports?sha256=x"} {
			sendZip(t, s, unchecked, "copy", zip).Shows(422, "Import a project").
				Says("#import-answer [role=alert]", "Check what is imported first")
		}
		s.Get("/projects/copy").Shows(404, "There is nothing here")

		sendZip(t, s, confirm, "copy", zip).LeadsTo("/projects/copy")
		s.Get("/projects/copy").Says("body", "The project is imported")
		sendZip(t, s, confirm, "copy", zip).Shows(409, "Import a project").
			Says("#import-answer [role=alert]", "taken")
	})
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

// sendZip posts the form of an import as a browser does. Without a zip the file is empty.
func sendZip(t *testing.T, s *controlplane.Browser, path, name string, zip []byte) *controlplane.Page {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	must(t, form.WriteField("name", name))
	file, err := form.CreateFormFile("zip", "shop-data.zip")
	must(t, err)
	_, err = io.Copy(file, bytes.NewReader(zip))
	must(t, err)
	must(t, form.Close())
	return s.Do(http.MethodPost, path, body.String(), []string{"Content-Type", form.FormDataContentType()})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
