// Package floors holds the repository to the rules of ARCHITECTURE.md: imports
// only go down, each library has its room, and files stay readable.
//
// It owns the rules that a machine can decide, as data, and the check of a
// source tree against them; its test checks this repository. It does not own
// what golangci-lint knows already (.golangci.yml).
package floors

// room is a top-level directory of packages.
type room struct {
	name   string
	floor  floor
	beside []string // rooms of the same floor that it may import
	only   []string // when set: all of our rooms that it may import
}

type floor int

// From the ground up. A package imports from lower floors only, and from its
// own as far as the room says.
const (
	ground   floor = iota + 1 // what everything stands on
	pure                      // no input and output of their own
	rules                     // rules with a database
	edges                     // protocols in, protocols out
	wiring                    // puts the parts together
	commands                  // main packages of the product
	testOnly                  // imported by tests alone
)

// rooms is the list that a newcomer finds in ARCHITECTURE.md.
var rooms = []room{
	{name: "cmd", floor: commands},
	{name: "app", floor: wiring},

	{name: "handlers", floor: edges, beside: []string{"views", "static"}},
	{name: "views", floor: edges, only: []string{"views/ui", "static"}},
	{name: "jobs", floor: edges},
	{
		name:  "gateway",
		floor: edges,
		only:  []string{"gateway/engine", "gateway/admission", "snapshot", "policy", "egress", "fault"},
	},
	{name: "bearer", floor: edges, only: []string{"policy", "snapshot"}},
	{name: "live", floor: edges},
	{name: "metrics", floor: edges, only: []string{"policy"}},
	{name: "client", floor: edges, only: []string{"fault"}},
	{name: "static", floor: edges, only: []string{}},

	{name: "exports", floor: rules, beside: []string{"projects", "keys"}},
	{name: "projects", floor: rules, beside: []string{"accounts", "keys"}},
	{name: "keys", floor: rules},
	{name: "login", floor: rules, beside: []string{"directory"}},
	{name: "directory", floor: rules, beside: []string{"keys"}},
	{name: "idempotency", floor: rules},
	{name: "tokens", floor: rules, beside: []string{"accounts"}},
	{name: "usage", floor: rules},
	{name: "ratelimit", floor: rules},
	{name: "audit", floor: rules},
	{name: "retention", floor: rules},
	{name: "webhooks", floor: rules},
	{name: "accounts", floor: rules},

	{name: "bundle", floor: pure, only: []string{"bundle", "snapshot", "policy", "fault"}},
	{name: "policy", floor: pure, only: []string{"snapshot", "fault"}},
	{name: "snapshot", floor: pure, only: []string{}},

	{name: "access", floor: ground, beside: []string{"models", "fault"}},
	{name: "models", floor: ground, beside: []string{"migrations", "secrets", "fault"}},
	{name: "migrations", floor: ground},
	{name: "config", floor: ground, beside: []string{"secrets", "fault"}},
	{name: "secrets", floor: ground},
	{name: "certs", floor: ground},
	{name: "egress", floor: ground, beside: []string{"fault"}},
	{name: "fault", floor: ground},

	{name: "e2e", floor: testOnly},
	{name: "testkit", floor: testOnly},
	{name: "tools", floor: testOnly},
}

// library is a module, or a part of the standard library, that only some rooms
// import.
type library struct {
	path  string
	rooms []string
}

var libraries = []library{
	{"github.com/gin-gonic", []string{"handlers"}},
	{"github.com/gin-contrib", []string{"handlers"}},
	{"github.com/danielgtaylor/huma", []string{"handlers"}},
	{"github.com/gorilla/sessions", []string{"handlers"}},
	{"github.com/riverqueue", []string{"jobs", "app", "migrations"}}, // migrations: River's own tables
	{"gorm.io", []string{"models"}},
	{"github.com/glebarez", []string{"models"}},
	{"github.com/pressly/goose", []string{"migrations"}},
	// jobs and app: a job in the caller's transaction; secrets: how a column keeps a value
	{"database/sql", []string{"models", "migrations", "jobs", "app", "secrets"}},
	{"github.com/a-h/templ", []string{"views", "handlers"}},
	{"github.com/spf13/cobra", []string{"cmd"}},
	{"github.com/prometheus", []string{"metrics"}},
	{"code.dny.dev/ssrf", []string{"egress"}},
	{"github.com/go-jose", []string{"login", "bearer"}},
	{"filippo.io", []string{"bearer"}},
	{"golang.org/x/oauth2", []string{"accounts", "login"}},
	{"github.com/coreos/go-oidc", []string{"accounts", "login"}},
	{"github.com/tink-crypto", []string{"secrets"}},
	{"github.com/chromedp", []string{}},
}

// unreachable are packages that a room must not reach, not even through others.
var unreachable = map[string][]string{
	// The data plane can run alone, without a database.
	"gateway": {"database/sql", "gorm.io", "github.com/riverqueue", "github.com/gin-gonic"},
	// Decisions and bundles are functions of their input.
	"policy":   {"database/sql", "os/exec"},
	"snapshot": {"database/sql", "os", "net/http"},
	"bundle":   {"database/sql", "os/exec"},
}

// vague are names that say nothing of what is in a package or a file.
var vague = []string{"util", "utils", "common", "helper", "helpers", "manager", "managers", "types", "misc", "shared", "base", "lib"}

// maxLines is the first number of lines that is too many for one source file.
const maxLines = 400
