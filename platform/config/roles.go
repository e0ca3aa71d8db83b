package config

import (
	"fmt"
	"strings"
)

// Roles are the parts of the server that one process runs.
type Roles struct {
	Control bool // dashboard, API, hosted login, SCIM
	Gateway bool // proxied calls
	Worker  bool // background jobs, upkeep, the audit streams
}

// AllRoles has every role: one process is a whole installation.
var AllRoles = Roles{Control: true, Gateway: true, Worker: true}

// Serve reports whether the process answers from the gateway's state: to serve calls, or to
// explain them.
func (r Roles) Serve() bool { return r.Control || r.Gateway }

// String returns the value of --roles.
func (r Roles) String() string {
	var names []string
	for _, role := range r.all() {
		if *role.has {
			names = append(names, role.name)
		}
	}
	return strings.Join(names, ",")
}

type namedRole struct {
	name string
	has  *bool
}

func (r *Roles) all() []namedRole {
	return []namedRole{{"control", &r.Control}, {"gateway", &r.Gateway}, {"worker", &r.Worker}}
}

func roleSetting() setting {
	return setting{
		"roles",
		AllRoles.String(),
		"comma-separated roles of this process: control (dashboard, API, hosted login), gateway (proxied " +
			"calls), worker (background jobs); if any is left out, --database-url is required",
		assignRoles,
	}
}

func assignRoles(c *Config, v string) error {
	var roles Roles
	for _, name := range strings.Split(v, ",") {
		if err := roles.add(strings.TrimSpace(name)); err != nil {
			return err
		}
	}
	c.Roles = roles
	return nil
}

func (r *Roles) add(name string) error {
	if name == "" {
		return fmt.Errorf("a role is missing: use one or more of %s", AllRoles)
	}
	for _, role := range r.all() {
		if role.name == name {
			*role.has = true
			return nil
		}
	}
	return fmt.Errorf("%q isn't a role: use one or more of %s", name, AllRoles)
}

// CheckRoles returns an error if a server with these settings cannot have some roles only.
// Other processes have the others, so what is derived from a listener has to be set.
func (c Config) CheckRoles() error {
	switch {
	case c.Roles == AllRoles:
		return nil
	case c.DatabaseURL == "":
		return fmt.Errorf("--roles %s requires --database-url: SQLite supports only one process, which must have all "+
			"roles",
			c.Roles)
	case !c.Roles.Control && c.PublicURL == "":
		return fmt.Errorf("--roles %s requires --public-url: the control plane's URL, which is the issuer of "+
			"hosted login's tokens and appears in links", c.Roles)
	case !c.Roles.Gateway && c.GatewayURL == "":
		return fmt.Errorf("--roles %s requires --gateway-url: the URL that callers of the gateway use", c.Roles)
	}
	return nil
}
