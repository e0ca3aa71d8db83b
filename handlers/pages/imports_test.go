package pages_test

import (
	"bytes"
	"errors"
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

		sendZip(t, s, "/imports/preview", "", "", nil).Shows(422, "Import a project").
			Says("#import-answer [role=alert]", "Choose the zip of an export")
		sendZip(t, s, "/imports/preview", "", "", []byte("no zip")).Shows(422, "Import a project").
			Says("#import-answer [role=alert]", "zip")
		sendZip(t, s, "/imports/preview", "", "", zip).Shows(409, "Import a project").
			Says("#import-answer [role=alert]", "taken")
		broken := bytes.Clone(zip)
		broken[len(broken)/2] ^= 1
		sendZip(t, s, "/imports/preview", "copy", "", broken).Shows(422, "Import a project")

		found := sendZip(t, s, "/imports/preview", "copy", "", zip).Shows(200, "Import a project").
			Says("#import-answer h2", "copy would have").
			Says("#import-answer", "What the zip cannot carry")
		if value, _ := found.Find("#import-name").Attr("value"); value != "copy" {
			t.Errorf("the name typed is %q", value)
		}
		sum := found.Find("[name=sha256]").AttrOr("value", "")
		s.Get("/projects/copy").Shows(404, "There is nothing here")

		other := strings.Repeat("0", 64)
		sendZip(t, s, "/imports", "copy", other, zip).Shows(422, "Import a project")
		sendZip(t, s, "/imports", "copy", "x", zip).Shows(422, "Import a project").
			Says("#import-answer [role=alert]", "Check the zip again")
		s.Get("/projects/copy").Shows(404, "There is nothing here")

		sendZip(t, s, "/imports", "copy", sum, zip).LeadsTo("/projects/copy")
		s.Get("/projects/copy").Says("body", "The project is imported")
		sendZip(t, s, "/imports", "copy", sum, zip).Shows(409, "Import a project").
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
func sendZip(t *testing.T, s *controlplane.Browser, path, name, sum string, zip []byte) *controlplane.Page {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, value := range map[string]string{"name": name, "sha256": sum} {
		if field == "sha256" && value == "" {
			continue
		}
		if err := form.WriteField(field, value); err != nil {
			t.Fatal(err)
		}
	}
	file, err := form.CreateFormFile("zip", "shop-data.zip")
	if err == nil {
		_, err = io.Copy(file, bytes.NewReader(zip))
	}
	if err = errors.Join(err, form.Close()); err != nil {
		t.Fatal(err)
	}
	return s.Do(http.MethodPost, path, body.String(), []string{"Content-Type", form.FormDataContentType()})
}
