package pages_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"slices"
	"strings"
	"testing"

	"postern/models"
	"postern/testkit/controlplane"
	"postern/testkit/state"
)

const (
	keyImportPage = "/projects/shop/keys/import"
	oldKey        = "k9J2hG5fD8sA1pO4iU7yT0rE"
	otherOldKey   = "Zq3vW8xN5mB2cL7jH4gF1dS6"
)

func TestKeyImport_page(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		s.Get("/projects/shop/keys").Says("main a[href='"+keyImportPage+"']", "Import keys")
		s.Get(keyImportPage).Shows(200, "Import keys")
		const file = "owner,key,name\nbilling-service," + oldKey + ",Invoices\nreports,short,Weak\n"

		checked := sendKeys(t, s, keyImportPage+"/preview", file, "key_type", "full", "map", "").
			Shows(200, "Import keys").
			Says("#import-result", "Nothing was imported").
			Says("#import-result dt:contains('To create') + dd", "1").
			Says("#import-result dt:contains('Refused') + dd", "1").
			Says("[aria-labelledby=import-errors] tbody tr", "can be guessed").
			Says("[aria-labelledby=import-rows] tbody", "billing-service").
			Says("[aria-labelledby=import-rows] tbody", "Invoices")
		if chosen := checked.Find("#import-type option[selected]").AttrOr("value", ""); chosen != "full" {
			t.Errorf("the form has the key type %q after the check", chosen)
		}
		hides(t, checked, oldKey)
		s.Post("/projects/shop/keys/check", "secret", oldKey).Says("#key-check", "No match")

		hides(t, sendKeys(t, s, keyImportPage, file, "key_type", "full").
			Shows(200, "Import keys").
			Says("#import-result h2", "Result of the import").
			Says("#import-result dt:contains('Created') + dd", "1").
			Says("#import-result dt:contains('Refused') + dd", "1"), oldKey)
		s.Get("/projects/shop/keys").Says("main", "billing-service")
		sendKeys(t, s, keyImportPage, file, "key_type", "full", "allow_weak", "true").
			Says("#import-result dt:contains('Created') + dd", "1").
			Says("#import-result dt:contains('Unchanged') + dd", "1")

		match := s.Post("/projects/shop/keys/check", "secret", oldKey).Shows(200, "Import keys").
			Says("#key-check", "This is key_").
			Says("#key-check", "owned by billing-service")
		hides(t, match, oldKey)
		link := match.Find("#key-check a").AttrOr("href", "")
		s.Get(link).Shows(200, "Key for billing-service")
		hides(t, s.Post("/projects/shop/keys/check", "secret", otherOldKey).Says("#key-check", "No match"), otherOldKey)
		s.Post("/projects/shop/keys/check", "secret", " ").Shows(422, "Import keys").
			Says("#check-secret-error", "Enter a key")
	})
}

// A column that no field takes is mapped by a proposal, which the form then has.
func TestKeyImport_mapping(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	const file = "User ID,apiKey,plan\nbilling-service," + oldKey + ",gold\n"
	refused := sendKeys(t, s, keyImportPage, file, "key_type", "full", "map", "").
		Shows(422, "Import keys").
		Says("#key-import [role=alert]", "No field matches").
		Says("#key-import [role=alert]", "choose the file again").
		Says("#import-map", "apiKey=key").
		Says("#import-map", "User ID=owner").
		Lacks("#import-result")
	hides(t, refused, oldKey)
	if text := refused.Find("#key-import [role=alert]").Text(); strings.Contains(text, "--map") {
		t.Errorf("the page has a flag of the command: %s", text)
	}
	proposed := refused.Find("#import-map").Text()
	proposed = strings.ReplaceAll(proposed, "\n", "\r\n") // as browsers send it
	hides(t, sendKeys(t, s, keyImportPage, file, "key_type", "full", "map", proposed).
		Shows(200, "Import keys").
		Says("#import-result dt:contains('Created') + dd", "1"), oldKey)

	// A mapping by mistake shows no keys either.
	hides(t, sendKeys(t, s, keyImportPage+"/preview", file, "map", "User ID=key\napiKey=owner\nplan=-").
		Shows(200, "Import keys").
		Says("[aria-labelledby=import-rows] tbody", "may be a key"), oldKey)
}

func TestKeyImport_refused(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	const file = "owner,key\nbilling-service," + oldKey + "\n"
	sendKeys(t, s, keyImportPage, "").Shows(422, "Import keys").Says("#key-import [role=alert]", "empty")
	s.Post(keyImportPage, "map", "x=-").Shows(422, "Import keys").Says("#import-file-error", "Choose a file")
	sendKeys(t, s, keyImportPage, file, "map", "apiKey").Shows(422, "Import keys").
		Says("#import-map-error", "Use the form column=field").Says("#import-map", "apiKey")
	sendKeys(t, s, keyImportPage, file, "types", "full").Shows(400, "Import keys").
		Says("#key-import [role=alert]", "a field is unknown")
	sendKeys(t, s, keyImportPage, file, "key_type", "full", "key_type", "full").Shows(400, "Import keys").
		Says("#key-import [role=alert]", "repeated")

	body, kind := keyForm(t, file, "key_type", "full")
	boundary := strings.TrimPrefix(kind, "multipart/form-data; boundary=")
	late := strings.TrimSuffix(body, "--\r\n") +
		"\r\nContent-Disposition: form-data; name=\"update\"\r\n\r\ntrue\r\n--" + boundary + "--\r\n"
	s.Do(http.MethodPost, keyImportPage, late, []string{"Content-Type", kind}).Shows(400, "Import keys").
		Says("#key-import [role=alert]", "extra fields after the file")
	s.Post("/projects/shop/keys/check", "secret", oldKey).Says("#key-check", "No match")
}

// A file can be larger than other forms.
func TestKeyImport_large(t *testing.T) {
	t.Parallel()
	s, _ := controlplane.NewOwnerWithShop(t, state.OpenSQLite(t))
	var file strings.Builder
	file.WriteString("owner,key\n")
	for n := range 2500 {
		fmt.Fprintf(&file, "billing-service,%sx%07d%s\n", oldKey, n, strings.Repeat("Q", 1000))
	}
	sendKeys(t, s, keyImportPage, file.String(), "key_type", "full").Shows(200, "Import keys").
		Says("#import-result dt:contains('Created') + dd", "2,500")
}

// The page's script follows an import by the id that it has sent with the form.
func TestKeyImport_progress(t *testing.T) {
	t.Parallel()
	state.Each(t, func(t *testing.T, db *models.DB) {
		s, _ := controlplane.NewOwnerWithShop(t, db)
		const watch = "0123456789abcdef0123456789abcdef"
		const file = "owner,key\nana," + oldKey + "\nana,short\nana," + otherOldKey + "\n"
		p := s.Get(keyImportPage)
		for selector, want := range map[string]string{
			"data-stream": keyImportPage, "hx-post": keyImportPage + "/preview", "hx-target": "#key-import-part",
		} {
			if got := p.Find("#key-import").AttrOr(selector, ""); got != want {
				t.Errorf("%s is %q, want %q", selector, got, want)
			}
		}
		if _, hidden := p.Find("#import-progress").Attr("hidden"); !hidden {
			t.Error("the progress is shown before the upload")
		}
		if name := p.Find("#key-import input").First().AttrOr("name", ""); name != "watch" {
			t.Errorf("the first field is %s: a field after the file is refused", name)
		}
		follow := func(watch string) *controlplane.Page {
			t.Helper()
			return s.Do(http.MethodGet, keyImportPage+"?watch="+watch, "", []string{"Accept", "text/event-stream"})
		}
		hides(t, sendKeys(t, s, keyImportPage, file, "watch", watch, "key_type", "full").
			Says("#import-result dt:contains('Created') + dd", "2"), oldKey)
		stream := follow(watch)
		if !strings.Contains(stream.Raw, "event: done\ndata: 3 rows done, 1 refused\n") {
			t.Errorf("the stream of an import that has ended is %q", stream.Raw)
		}
		hides(t, stream, oldKey)
		hides(t, stream, otherOldKey)

		// Repeating the upload finds that it is done. Without an ID, it is a separate import.
		sendKeys(t, s, keyImportPage, file, "watch", watch, "key_type", "full").
			Says("#import-result dt:contains('Created') + dd", "2")
		sendKeys(t, s, keyImportPage, file, "watch", "", "key_type", "full").
			Says("#import-result dt:contains('Unchanged') + dd", "2")
		if refused := follow("x"); !strings.Contains(refused.Raw, "Use 32 hexadecimal digits") {
			t.Errorf("a malformed id: %s", refused.Raw)
		}
	})
}

func hides(t *testing.T, p *controlplane.Page, key string) {
	t.Helper()
	if strings.Contains(p.Raw, key) {
		t.Error("the page has a key")
	}
}

// sendKeys posts the form of an import as a browser does, with fields in pairs before the file.
func sendKeys(t *testing.T, s *controlplane.Browser, path, file string, fields ...string) *controlplane.Page {
	t.Helper()
	body, kind := keyForm(t, file, fields...)
	return s.Do(http.MethodPost, path, body, []string{"Content-Type", kind})
}

func keyForm(t *testing.T, text string, fields ...string) (body, contentType string) {
	t.Helper()
	var out bytes.Buffer
	form := multipart.NewWriter(&out)
	for field := range slices.Chunk(fields, 2) {
		must(t, form.WriteField(field[0], field[1]))
	}
	file, err := form.CreateFormFile("file", "keys.csv")
	must(t, err)
	_, err = file.Write([]byte(text))
	must(t, err)
	must(t, form.Close())
	return out.String(), form.FormDataContentType()
}
