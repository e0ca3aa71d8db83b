package pages

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/e2e/harness"
	"postern/testkit"
)

// watchesUpload keeps what the page says during uploads.
const watchesUpload = `window.said = [];
new MutationObserver(() => {
	const shown = document.getElementById("import-progress");
	if (shown && !shown.hidden) window.said.push(shown.innerText);
}).observe(document.body, { subtree: true, childList: true, attributes: true, characterData: true });
""`

// TestKeyImport_upload uploads files of keys by hand: the page shows the progress, keeps nothing of the keys, and an
// upload can be canceled. The last one is without scripts.
func TestKeyImport_upload(t *testing.T) {
	t.Parallel()
	upstream, server := testkit.NewUpstream(t), harness.Start(t)
	dir := t.TempDir()
	key := func(n int) string { return fmt.Sprintf("legacy_k9J2hG5fD8sA_%07d", n) }
	file := func(name string, from, rows int) string {
		var text strings.Builder
		text.WriteString("owner,key\n")
		for n := range rows {
			text.WriteString("billing-service," + key(from+n) + "\n")
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	few, many, more := file("few.csv", 0, 3), file("many.csv", 0, 5000), file("more.csv", 1_000_000, 300_000)

	p := sit(t)
	p.Open(server.FirstLink)
	p.Types("email", "ana@example.com")
	p.Types("name", "Ana")
	p.Types("password", "four unrelated words")
	p.Presses("Create account and sign in")
	p.Follows("Create a project")
	p.Types("target", upstream.URL)
	p.Types("name", "shop")
	p.Presses("Create project")
	p.Sees("shop is ready")
	address := p.Reads("dl code")
	const page = "/projects/shop/keys/import"
	p.Open(server.Config.PublicURL + page)
	p.Sees("Import keys")
	p.evaluates(watchesUpload)

	p.evaluates(`document.getElementById("import-type").value = "full"`)
	p.chooses("#import-file", few)
	p.Presses("Check file")
	p.Reaches(`//section[@id="import-result"]//dt[.="To create"]/following-sibling::dd[.="3"]`)
	p.lacks("#import-progress:not([hidden])")
	p.chooses("#import-file", many)
	p.Presses("Import")
	p.Reaches(`//section[@id="import-result"]//dt[.="Created"]/following-sibling::dd[.="5,000"]`)
	p.lacks("#import-progress:not([hidden])")
	if at := p.evaluates("location.pathname"); at != page {
		t.Errorf("after the import the page is %s", at)
	}
	said := p.evaluates(`window.said.join("\n")`)
	if !strings.Contains(said, "0.2 MB sent") {
		t.Errorf("during the uploads the page said:\n%s", said)
	}
	if html := p.evaluates("document.documentElement.outerHTML"); strings.Contains(html+said, "k9J2hG5fD8sA") {
		t.Error("the page has a key")
	}
	harness.CallsAnswer(t, address, key(1234), http.StatusOK, http.StatusUnauthorized)

	p.chooses("#import-file", more)
	p.Presses("Import")
	p.Reaches(`//span[@id="import-done"][contains(., "rows done")]`)
	p.Presses("Cancel")
	p.Reaches(`//span[@id="import-sent"][starts-with(., "Canceled")]`)
	p.Waits("#import-start:not([disabled])")
	p.lacks("#import-result")

	p.ForbidsScripts()
	p.Open(server.Config.PublicURL + page)
	p.Sees("Import keys")
	p.lacks("#import-progress:not([hidden])")
	p.chooses("#import-file", few)
	p.Presses("Import")
	p.Reaches(`//section[@id="import-result"]//dt[.="Refused"]/following-sibling::dd[.="3"]`) // without a key type
}
