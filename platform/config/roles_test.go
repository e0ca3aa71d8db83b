package config_test

import (
	"strings"
	"testing"

	"postern/platform/config"
)

func TestRoles(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		want config.Roles
		says string // of the error; "": none
	}{
		"all by default":       {nil, config.AllRoles, ""},
		"some, with spaces":    {[]string{"--roles", "worker, control"}, config.Roles{Control: true, Worker: true}, ""},
		"twice the same":       {[]string{"--roles", "gateway,gateway"}, config.Roles{Gateway: true}, ""},
		"an empty list":        {[]string{"--roles", ""}, config.Roles{}, "--roles: a role is missing"},
		"a comma too many":     {[]string{"--roles", "gateway,"}, config.Roles{}, "--roles: a role is missing"},
		"a wrong name":         {[]string{"--roles", "proxy"}, config.Roles{}, `--roles: "proxy" isn't a role: use`},
		"a name in upper case": {[]string{"--roles", "Gateway"}, config.Roles{}, `"Gateway" isn't a role`},
		"ACME without callers": {acmeFor("control,worker"), config.Roles{Control: true, Worker: true}, ""},
		"ACME without a pair":  {acmeFor("gateway"), config.Roles{}, "--acme-directory: requires --gateway-tls-cert"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, nil, tt.args...)
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v, want %q", err, tt.says)
				}
				return
			}
			if err != nil || c.Roles != tt.want {
				t.Errorf("roles %s, error %v, want %s", c.Roles, err, tt.want)
			}
		})
	}
}

func acmeFor(roles string) []string {
	return []string{
		"--roles", roles,
		"--acme-directory", "https://acme.example.com/directory",
		"--acme-accept-terms", "yes",
	}
}

func TestCheckRoles(t *testing.T) {
	const database, public, gateway = "postgres://localhost/postern", "https://postern.example.com",
		"https://api.example.com"
	for name, tt := range map[string]struct {
		roles, database, public, gateway string
		says                             string // of the error; "": none
	}{
		"all on SQLite":           {"control,gateway,worker", "", "", "", ""},
		"some on SQLite":          {"gateway", "", public, gateway, "--roles gateway requires --database-url"},
		"gateway alone":           {"gateway", database, public, "", ""},
		"gateway without control": {"gateway", database, "", gateway, "--roles gateway requires --public-url"},
		"control alone":           {"control", database, "", gateway, ""},
		"control without gateway": {"control", database, public, "", "--roles control requires --gateway-url"},
		"worker alone":            {"worker", database, public, gateway, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := load(t, nil, "--roles", tt.roles, "--database-url", tt.database, "--public-url", tt.public,
				"--gateway-url", tt.gateway)
			if err != nil {
				t.Fatal(err)
			}
			err = c.CheckRoles()
			if tt.says == "" && err != nil {
				t.Errorf("refused: %v", err)
			}
			if tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("error %v, want %q", err, tt.says)
			}
		})
	}
}
