package projects_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
	"postern/testkit"
	"postern/testkit/state"
)

// pemOf returns a certificate that ends then.
func pemOf(t *testing.T, name string, end time.Time) string {
	t.Helper()
	cert, _ := testkit.CertificateUntil(t, end, name)
	return string(cert)
}

// said is all that a refusal says.
func said(err error) (text string) {
	refused, _ := errors.AsType[*fault.Error](err)
	if refused == nil {
		return ""
	}
	for _, field := range refused.Fields {
		text += field.Pointer + " " + field.Detail + "\n"
	}
	return text + err.Error()
}

// httpsWorld is a project with the environment prod, whose target is https.
func httpsWorld(t *testing.T, db *models.DB) (*world, func(contract.EnvironmentChange) (contract.Environment, error)) {
	t.Helper()
	w := newWorld(t, db)
	in := authenticated
	in.Target = "https://up.example"
	created, p := w.create(t, in)
	id, environment := created.Project.ID, created.Project.Versions[0].Environments[0].ID
	return w, func(c contract.EnvironmentChange) (contract.Environment, error) {
		return w.UpdateEnvironment(t.Context(), p, c.Of(id, "1.0.0", environment))
	}
}

func TestUpdateEnvironment_tls(t *testing.T) {
	state.Each(t, func(t *testing.T, db *models.DB) {
		_, change := httpsWorld(t, db)
		one := pemOf(t, "one", time.Now().Add(time.Hour))
		other := pemOf(t, "other", time.Now().Add(time.Hour))
		set := contract.Upstream{
			CA: contract.UpstreamCA{
				PEM: new("a comment\n" + one + one + "between\n" + other), System: new(false),
			},
			ServerName: new(" API.Internal "), HostHeader: new("Caller"),
		}
		out, err := change(contract.EnvironmentChange{Upstream: set})
		if err != nil {
			t.Fatal(err)
		}
		wantTLS := func(u contract.Upstream, pem string, system bool, name, host string) {
			t.Helper()
			if *u.CA.PEM != pem || *u.CA.System != system || *u.ServerName != name || *u.HostHeader != host {
				t.Errorf("%q, %t, %q, %q", *u.CA.PEM, *u.CA.System, *u.ServerName, *u.HostHeader)
			}
		}
		wantTLS(out.Upstream, one+other, false, "api.internal", "caller")
		out, err = change(contract.EnvironmentChange{Upstream: contract.Upstream{ServerName: new("2001:DB8::1")}})
		if err != nil {
			t.Fatal(err)
		}
		wantTLS(out.Upstream, one+other, false, "2001:db8::1", "caller")
		_, err = change(contract.EnvironmentChange{Target: new("http://up.example")})
		for _, setting := range []string{"ca.pem", "server_name"} {
			if got := fieldOf(err, "/target"); got.Code != "needs_https" || !strings.Contains(said(err), setting) {
				t.Errorf("an http target with %s: %v", setting, err)
			}
		}
		none := contract.Upstream{CA: contract.UpstreamCA{PEM: new("")}}
		_, err = change(contract.EnvironmentChange{Upstream: none})
		if got := fieldOf(err, "/upstream/ca/pem"); got.Code != "needs_ca" {
			t.Errorf("no authority at all: %v", err)
		}
		none.CA.System, none.ServerName, none.HostHeader = new(true), new(""), new("")
		out, err = change(contract.EnvironmentChange{Upstream: none, Target: new("http://up.example")})
		if err != nil {
			t.Fatal(err)
		}
		wantTLS(out.Upstream, "", true, "", "target")
	})
}

func TestUpstreamTLS_refused(t *testing.T) {
	w, change := httpsWorld(t, state.OpenSQLite(t))
	w.OwnName = func(name string) bool { return name == "gateway.example" }
	valid := pemOf(t, "valid", time.Now().Add(time.Hour))
	_, key := testkit.Certificate(t, "secret")
	many := strings.Builder{}
	for range contract.MostCAs + 1 {
		many.WriteString(pemOf(t, "many", time.Now().Add(time.Hour)))
	}
	ca := func(pem string) contract.Upstream { return contract.Upstream{CA: contract.UpstreamCA{PEM: &pem}} }
	name := func(name string) contract.Upstream { return contract.Upstream{ServerName: &name} }
	host := func(name string) contract.Upstream { return contract.Upstream{HostHeader: &name} }
	system := contract.Upstream{CA: contract.UpstreamCA{System: new(false)}}
	for what, tc := range map[string]struct {
		set                 contract.Upstream
		pointer, code, says string
	}{
		"not PEM": {ca("MIIB"), "/ca/pem", "invalid_ca", "isn't a list of certificates"},
		"not a certificate": {
			ca("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----"), "/ca/pem", "invalid_ca", "",
		},
		"another PEM block": {
			ca(valid + "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----"), "/ca/pem", "invalid_ca", "",
		},
		"a damaged block":    {ca(valid + "-----BEGIN CERTIFICATE-----\nMIIB"), "/ca/pem", "invalid_ca", ""},
		"a private key":      {ca(valid + string(key)), "/ca/pem", "private_key_in_ca", "contains a private key"},
		"only a private key": {ca(string(key)), "/ca/pem", "private_key_in_ca", ""},
		"too many":           {ca(many.String()), "/ca/pem", "invalid_ca", "too many"},
		"too long": {
			ca(valid + strings.Repeat("x", contract.MostCABytes)), "/ca/pem", "invalid_ca", "too long",
		},
		"expired": {
			ca(pemOf(t, "old", time.Now().Add(-time.Minute))), "/ca/pem", "certificate_expired", "CN=old",
		},
		"the second expired": {
			ca(valid + pemOf(t, "old", time.Now().Add(-time.Minute))), "/ca/pem", "certificate_expired", "CN=old",
		},
		"no authority":        {system, "/ca/system", "needs_ca", "set ca.system to true"},
		"a name with a port":  {name("api.internal:443"), "/server_name", "invalid_server_name", ""},
		"a URL":               {name("https://api.internal"), "/server_name", "invalid_server_name", ""},
		"a wildcard":          {name("*.internal"), "/server_name", "invalid_server_name", ""},
		"half an address":     {name("10.0.1"), "/server_name", "invalid_server_name", ""},
		"a Host with a port":  {host("api.internal:443"), "/host_header", "invalid_host_header", ""},
		"a Host of two lines": {host("a\r\nX-B: c"), "/host_header", "invalid_host_header", ""},
		"an address as Host":  {host("192.0.2.1"), "/host_header", "invalid_host_header", ""},
		"our own Host":        {host("Gateway.Example"), "/host_header", "own_host", "gateway itself"},
	} {
		_, err := change(contract.EnvironmentChange{Upstream: tc.set})
		got := fieldOf(err, "/upstream"+tc.pointer)
		if fault.KindOf(err) != fault.Invalid || got.Code != tc.code || !strings.Contains(got.Detail, tc.says) {
			t.Errorf("%s: %v %+v", what, err, got)
		}
		if body := strings.Split(string(key), "\n")[1]; strings.Contains(said(err), body) {
			t.Errorf("%s: the refusal has the private key", what)
		}
	}
}

// Private authorities and server names are refused with an http target, before anything is saved.
func TestUpstreamTLS_httpTarget(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	created, p := w.create(t, authenticated)
	id := created.Project.ID
	upstream := contract.Upstream{
		CA:         contract.UpstreamCA{PEM: new(pemOf(t, "one", time.Now().Add(time.Hour)))},
		ServerName: new("api.internal"),
	}
	live := map[string]contract.EnvironmentTarget{"live": {Target: "http://up.example", Upstream: upstream}}
	added := contract.NewEnvironment{Name: "live", Target: "http://up.example", Upstream: upstream}
	proxy := authenticated
	proxy.Environments = live
	for way, do := range testkit.ByName(map[string]func() error{
		"/": func() error {
			_, err := w.CreateEnvironment(t.Context(), p, added.In(id, "1.0.0"))
			return err
		},
		"/environments/live/": func() error {
			_, err := w.CreateVersion(t.Context(), p, contract.NewVersion{Name: "2", Environments: live}.In(id))
			return err
		},
		"/environments/live/ of a project": func() error {
			_, err := w.Create(t.Context(), p, proxy)
			return err
		},
	}) {
		err := do()
		prefix, _, _ := strings.Cut(way, " ")
		for _, member := range []string{"upstream/ca/pem", "upstream/server_name"} {
			if got := fieldOf(err, prefix+member); got.Code != "needs_https" {
				t.Errorf("%s: %s: %v", way, member, err)
			}
		}
	}
}

// An unclaimed workspace can't choose which authorities are trusted, or which site of a shared host is reached.
func TestUpstreamTLS_unclaimed(t *testing.T) {
	w := newWorld(t, state.OpenSQLite(t))
	w.CapUnclaimed = true
	in := authenticated
	upstream := contract.Upstream{
		CA:         contract.UpstreamCA{PEM: new(pemOf(t, "one", time.Now().Add(time.Hour)))},
		ServerName: new("api.internal"), HostHeader: new("api.internal"),
	}
	in.Environments = map[string]contract.EnvironmentTarget{
		"prod": {Target: "https://up.example", Upstream: upstream},
	}
	_, err := w.Create(t.Context(), access.Principal{}, in)
	for _, member := range []string{"ca/pem", "server_name", "host_header"} {
		if got := fieldOf(err, "/environments/prod/upstream/"+member); got.Code != "needs_claim" {
			t.Errorf("%s: %v", member, err)
		}
	}
	in.Environments["prod"] = contract.EnvironmentTarget{Target: "https://up.example", Upstream: contract.Upstream{
		CA: contract.UpstreamCA{PEM: new("")}, ServerName: new(""), HostHeader: new("target"),
	}}
	if _, err := w.Create(t.Context(), access.Principal{}, in); err != nil {
		t.Errorf("the defaults: %v", err)
	}
}

// A custom domain isn't the Host of calls to an upstream, which would lead back here.
func TestHostHeader_customDomain(t *testing.T) {
	db := state.OpenSQLite(t)
	w := newWorld(t, db)
	created, p := w.create(t, authenticated)
	id, environment := created.Project.ID, created.Project.Versions[0].Environments[0].ID
	now := models.Now()
	domain := func(host string, verified *time.Time) *models.Domain {
		return &models.Domain{
			ID: models.NewID("dom"), ProjectID: id, EnvironmentID: environment, Host: host, VerifiedAt: verified,
			CreatedAt: now, UpdatedAt: now,
		}
	}
	err := db.Write(t.Context(), func(tx *models.Tx) error {
		return errors.Join(tx.Insert(domain("own.example", &now)), tx.Insert(domain("pending.example", nil)))
	})
	if err != nil {
		t.Fatal(err)
	}
	for host, code := range map[string]string{"OWN.example": "own_host", "pending.example": "", "api.own.example": ""} {
		change := contract.EnvironmentChange{Upstream: contract.Upstream{HostHeader: &host}}
		_, err := w.UpdateEnvironment(t.Context(), p, change.Of(id, "1.0.0", environment))
		if got := fieldOf(err, "/upstream/host_header"); got.Code != code || code == "" && err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
}
