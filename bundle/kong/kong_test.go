package kong

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"postern/bundle"
	"postern/core/policy"
	"postern/testkit/sample"
)

func sampleInput() bundle.Input {
	keys := sample.Keys()
	return bundle.Input{
		Project:   sample.Project("https://up.example:8443"),
		Keys:      sample.Stream(keys),
		KeyCount:  int64(len(keys)),
		Options:   bundle.Options{Format: bundle.FormatGateway, Consumers: true},
		Target:    Target,
		AddressOf: sample.AddressOf,
		Generator: "postern test",
	}
}

// write exports and verifies; it gives the files of the zip.
func write(t *testing.T, in bundle.Input) map[string]string {
	t.Helper()
	var out bytes.Buffer
	if _, err := bundle.Write(t.Context(), &out, in); err != nil {
		t.Fatalf("Write: %v", err)
	}
	if _, err := check(t, out.Bytes()); err != nil {
		t.Fatalf("Verify: %v", err)
	}
	return unzipped(t, out.Bytes())
}

var sampleExport struct {
	once  sync.Once
	files map[string]string
}

// sampleFiles returns the files of the sample's export. It is written once for all tests: an
// export of one state has the same bytes each time.
func sampleFiles(t *testing.T) map[string]string {
	t.Helper()
	sampleExport.once.Do(func() { sampleExport.files = write(t, sampleInput()) })
	if sampleExport.files == nil {
		t.Fatal("the sample could not be exported: see the first test that failed")
	}
	return maps.Clone(sampleExport.files)
}

type gatewayDoc struct {
	Services    []serviceDoc
	Consumers   []consumerDoc
	Authorities []caDoc `json:"ca_certificates"`
	Plugins     []struct {
		Config struct {
			Keys     map[string]string
			Routes   map[string]routePolicyDoc
			Tenants  map[string]tenantDoc
			Limits   *limitsDoc
			Fallback *ownerDoc
		}
	}
}

func gatewayOf(t *testing.T, files map[string]string) gatewayDoc {
	t.Helper()
	var doc gatewayDoc
	if err := json.Unmarshal([]byte(files[gatewayFile]), &doc); err != nil {
		t.Fatalf("gateway.yaml: %v", err)
	}
	return doc
}

func TestKeyTable_usableKeys(t *testing.T) {
	table := gatewayOf(t, sampleFiles(t)).Plugins[0].Config.Keys
	keys := sample.Keys()
	consumer := func(name string) string { return "consumer=" + policy.ConsumerID(sample.ProjectID, keys[name].Owner) }
	for name, want := range map[string]string{
		"active":   "key_01 tenant=tnt_1 type=kty_1 env=prod " + consumer("active") + " owner=billing-service",
		"allenvs":  "key_02 tenant=tnt_1 type=kty_1 " + consumer("allenvs") + " owner=billing-service",
		"frozen":   "key_05 tenant=tnt_1 type=kty_1 env=prod frozen " + consumer("frozen") + " owner=ana",
		"future":   "key_07 tenant=tnt_1 type=kty_1 env=prod until=7258118400.123 " + consumer("future") + " owner=ana",
		"graced":   "key_08 tenant=tnt_1 type=kty_4 env=prod " + consumer("graced") + " owner=ben",
		"noscopes": "key_10 tenant=tnt_1 type=kty_2 env=prod " + consumer("noscopes") + " owner=carl",
		"oddowner": "key_11 tenant=tnt_1 type=kty_1 env=prod " + consumer("oddowner") +
			" owner=" + keys["oddowner"].Owner,
		"unlike": "key_14 tenant=tnt_1 type=kty_4 scopes=orders:read env=prod " + consumer("unlike") + " owner=dora",
		"acme":   "key_16 tenant=tnt_2 type=kty_1 env=prod " + consumer("acme") + " owner=frank",
		"faraway": "key_18 tenant=tnt_1 type=kty_1 env=prod ips=203.0.113.0/24,2001:db8::/32 " +
			consumer("faraway") + " owner=gil",
		"limited": "key_19 tenant=tnt_1 type=kty_4 env=prod limits=month:999,year:9999 " +
			consumer("limited") + " owner=gil",
		"detached": "key_17 tenant=tnt_3 type=kty_1 env=prod " + consumer("detached") + " owner=frank",
		"product":  "key_21 tenant=tnt_1 type=kty_4 env=prod " + consumer("product") + " owner=hal",

		"unlimited":      "key_22 tenant=tnt_1 type=kty_4 env=prod limits=none " + consumer("unlimited") + " owner=hal",
		"revoked":        "",
		"revokedlimited": "",
	} {
		if diff := cmp.Diff(want, table[hexOf(keys[name].Hash)]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	want := "key_08 tenant=tnt_1 type=kty_4 env=prod until=7258118400 " + consumer("graced") + " owner=ben"
	if diff := cmp.Diff(want, table[hexOf(*keys["graced"].OldHash)]); diff != "" {
		t.Errorf("secret before the rotation (-want +got):\n%s", diff)
	}
	if len(table) != len(keys)-2+2 {
		t.Errorf("%d entries, want one for each key but the revoked ones, and two for former secrets", len(table))
	}
}

// The default export contains no keys, only their hashes.
func TestKeyTable_noPlaintext(t *testing.T) {
	files := sampleFiles(t)
	for name, k := range sample.Keys() {
		for _, secret := range []string{k.Plaintext, k.Old} {
			for file, text := range files {
				if secret != "" && strings.Contains(text, secret) {
					t.Errorf("%s holds the key %q", file, name)
				}
			}
		}
	}
}

// compose replaces ${NAME} in its file, and YAML has opinions on bare words.
func TestComposeFile_parsed(t *testing.T) {
	var doc struct {
		Services map[string]struct {
			Image       string
			Ports       []string
			Environment map[string]any
		}
	}
	if err := yaml.Unmarshal([]byte(sampleFiles(t)["gateway/docker-compose.yaml"]), &doc); err != nil {
		t.Fatal(err)
	}
	kong := doc.Services["kong"]
	if !strings.HasPrefix(kong.Image, "kong:3.9") {
		t.Errorf("image %q", kong.Image)
	}
	for name, value := range kong.Environment {
		if _, text := value.(string); !text {
			t.Errorf("%s is %T, not text", name, value)
		}
	}
	for name, want := range map[string]string{
		"KONG_DATABASE": "off", "KONG_ADMIN_GUI_LISTEN": "off", "KONG_STATUS_LISTEN": "0.0.0.0:8100",
		"KONG_DECLARATIVE_CONFIG": "/postern/gateway.yaml", "KONG_PLUGINS": "bundled,postern-auth",
		// nginx's lines on calls have the query, and with it keys that do not belong there
		"KONG_PROXY_ACCESS_LOG": "off", "KONG_ADMIN_ACCESS_LOG": "off", "KONG_LOG_LEVEL": "crit",
		"KONG_NGINX_MAIN_ERROR_LOG":       "/dev/stderr notice",
		"KONG_NGINX_HTTP_LUA_SHARED_DICT": "postern_limits 64m",
		// nginx reads its trust store only where it verifies from the start
		"KONG_NGINX_PROXY_PROXY_SSL_VERIFY":              "on",
		"KONG_NGINX_PROXY_PROXY_SSL_TRUSTED_CERTIFICATE": "/etc/ssl/certs/ca-certificates.crt",
		"KONG_HEADERS": "off", "KONG_NGINX_HTTP_CHARSET": "off", "KONG_NGINX_PROXY_PROXY_BUFFER_SIZE": "64k",
	} {
		if kong.Environment[name] != want {
			t.Errorf("%s is %v, want %s", name, kong.Environment[name], want)
		}
	}
	for _, port := range kong.Ports {
		public := strings.HasSuffix(port, ":8000")
		if local := strings.HasPrefix(port, "127.0.0.1:"); local == public {
			t.Errorf("port %s: published on loopback only: %t", port, local)
		}
	}
}

func TestKeyTable_formerSecret(t *testing.T) {
	for name, c := range map[string]struct {
		grace, expires time.Time
		want           string
	}{
		"grace":       {sample.Base, sample.Future, " until=1772600767 "},
		"key":         {sample.Future, sample.Base, " until=1772600767 "},
		"no grace":    {time.Time{}, time.Time{}, " until=0 "},
		"before 1970": {time.Time{}.Add(time.Hour), time.Time{}, " until=0 "},
	} {
		in := sampleInput()
		k := sample.Keys()["graced"]
		k.GraceEndsAt, k.ExpiresAt = c.grace, c.expires
		in.Keys, in.KeyCount = sample.Stream(map[string]sample.Plain{"x": k}), 1
		if got := gatewayOf(t, write(t, in)).Plugins[0].Config.Keys[hexOf(*k.OldHash)]; !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want%s", name, got, c.want)
		}
	}
}

func TestKeyTable_ownScopes(t *testing.T) {
	for scope, ok := range map[string]bool{"a:b*": true, "a b": false, "a,b": false, "": false, "é": false} {
		in := sampleInput()
		k := sample.Keys()["active"]
		k.Scopes = []string{scope}
		in.Keys, in.KeyCount = sample.Stream(map[string]sample.Plain{"x": k}), 1
		if _, err := bundle.Write(t.Context(), io.Discard, in); (err == nil) != ok {
			t.Errorf("scope %q: %v", scope, err)
		}
	}
}

func TestMint_oldKeys(t *testing.T) {
	in := sampleInput()
	in.Options.Keys = bundle.KeysMint
	files := write(t, in)
	table := gatewayOf(t, files).Plugins[0].Config.Keys
	newKeys := ""
	for _, tenant := range []string{"acme", "default", "gone"} {
		newKeys += files["tenants/"+tenant+"/keys/minted.csv"]
	}
	line := regexp.MustCompile(`"(key_\d+)",.*"(pst_[a-z]+_[0-9A-Za-z]{38})"\r`)
	minted := line.FindAllStringSubmatch(newKeys, -1)
	active := 0
	for _, k := range sample.Keys() {
		if bundle.Mintable(&k.Key) {
			active++
		}
	}
	if len(minted) != active {
		t.Errorf("%d keys minted, want one for each of %d active ones", len(minted), active)
	}
	for _, m := range minted {
		if !policy.WellFormedKey(m[2]) {
			t.Errorf("%s is not well-formed", m[2])
		}
		if got := table[hexOf(policy.HashKey(m[2]))]; !strings.HasPrefix(got, m[1]+" ") {
			t.Errorf("the new key of %s opens as %q", m[1], got)
		}
	}
	if _, have := table[hexOf(sample.Keys()["active"].Hash)]; !have {
		t.Error("the consumer's present key is gone")
	}
	again := write(t, in)
	if again["tenants/default/keys/minted.csv"] == files["tenants/default/keys/minted.csv"] {
		t.Error("two exports minted the same keys")
	}
}

func TestRoutes_wholeSegments(t *testing.T) {
	p := sample.Project("http://up.example")
	p.Versions[0].Name = "1.0.0"
	for _, pl := range newLayout(p).places[:1] {
		pattern := regexp.MustCompile("^" + strings.TrimPrefix(pl.routes[0].regex, "~"))
		for path, want := range map[string]bool{
			"/1.0.0/dev": true, "/1.0.0/dev/": true, "/1.0.0/dev/x": true,
			"/1.0.0/devx": false, "/1x0x0/dev": false, "/x/1.0.0/dev": false, "/1.0.0/dev-2/": false,
		} {
			if got := pattern.MatchString(path); got != want {
				t.Errorf("%s matches %s: %t, want %t", pl.routes[0].regex, path, got, want)
			}
		}
	}
}

func TestLedger_shadowedAddress(t *testing.T) {
	in := sampleInput()
	in.Project.Versions[3].Name = "shop"
	in.Project.Versions[3].Environments[0].Name = "dev"
	in.Project.Versions[2].Name = "dev"
	ledger := write(t, in)["MIGRATION-REPORT.json"]
	if got := strings.Count(ledger, `"kong.route.shadowed"`); got != 1 {
		t.Errorf("%d addresses reported as shadowed, want 1", got)
	}
}

func hostileInput() bundle.Input {
	in := sampleInput()
	project, keys := sample.Hostile("https://up.example:8443")
	in.Project, in.Keys = project, sample.Stream(keys)
	return in
}

func TestConfig_hostileProject(t *testing.T) {
	files := write(t, hostileInput())
	var asJSON, asYAML any
	text := files[gatewayFile]
	if err := json.Unmarshal([]byte(text), &asJSON); err != nil {
		t.Fatalf("as JSON: %v", err)
	}
	if err := yaml.Unmarshal([]byte(text), &asYAML); err != nil {
		t.Fatalf("as YAML: %v", err)
	}
	fromYAML, err := json.Marshal(asYAML)
	if err != nil {
		t.Fatal(err)
	}
	fromJSON, err := json.Marshal(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(fromJSON), string(fromYAML)); diff != "" {
		t.Errorf("YAML reads something else than JSON (-json +yaml):\n%s", diff)
	}
	doc := gatewayOf(t, files)
	if doc.Plugins[0].Config.Fallback == nil ||
		doc.Plugins[0].Config.Fallback.Owner != hostileInput().Project.FallbackOwner {
		t.Errorf("the fallback owner became %+v", doc.Plugins[0].Config.Fallback)
	}
}

// Nothing that a customer wrote stands where a shell, compose or a reviewer's
// screen would act on it.
func TestScripts_hostileText(t *testing.T) {
	files := write(t, hostileInput())
	plain := sampleFiles(t)
	for _, name := range []string{
		"gateway/start.sh", "verify/verify.sh", "gateway/docker-compose.yaml", "gateway/README.md",
	} {
		if diff := cmp.Diff(plain[name], files[name]); diff != "" {
			t.Errorf("%s has something of the project's free text (-plain +hostile):\n%s", name, diff)
		}
	}
	for name, text := range files {
		if strings.ContainsAny(text, "\u202e\u0085\ufeff\u2028\x00\x7f") && !strings.HasSuffix(name, ".csv") {
			t.Errorf("%s has invisible characters", name)
		}
	}
}

func hexOf(hash [32]byte) string {
	const digits = "0123456789abcdef"
	out := make([]byte, 0, 64)
	for _, b := range hash {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}
