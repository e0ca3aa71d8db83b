// Package floors holds the repository to the rules of ARCHITECTURE.md: imports
// only go down, each library has its folder, and files stay readable.
//
// It owns the rules that a machine can decide, as data, and the check of a
// source tree against them; its test checks this repository. It does not own
// what golangci-lint knows already (.golangci.yml).
package floors

// folder is a folder of packages with the rule for what they import. The folder
// with the longest matching path decides on a package.
type folder struct {
	path  string
	floor floor
	peers []string // folders of the same floor that it may import
	only  []string // when set: all folders of this module that it may import
}

type floor int

// From the bottom up. A package imports packages of lower floors, of its own
// folder, and of the folders named in peers.
const (
	platform floor = iota + 1 // processes, networks and secrets; nothing of the product
	core                      // the contract, and decisions that both gateways share; pure functions
	export                    // state in, zip and ledger out; pure functions
	rows                      // rows, named queries and the schema
	service                   // rules with a database
	edges                     // protocols in, protocols out
	wiring                    // creates the parts and connects them
	commands                  // main packages of the product
	testOnly                  // imported by tests only
)

// commandKit is what the packages of the API's commands see. They don't see each other.
var commandKit = []string{
	"cmd/internal/terminal", "cmd/internal/cli", "client", "core/contract",
}

// folders is the list that ARCHITECTURE.md describes.
var folders = []folder{
	{path: "cmd/postern", floor: commands, peers: []string{"cmd/internal"}},
	// The commands of the API see a server as any other program does.
	{path: "cmd/internal/terminal", floor: commands, only: []string{"platform"}},
	{path: "cmd/internal/credentials", floor: commands, only: []string{"cmd/internal/terminal"}},
	{path: "cmd/internal/cli", floor: commands, only: []string{
		"cmd/internal/terminal", "cmd/internal/credentials", "client", "core/contract", "platform",
	}},
	{path: "cmd/internal/account", floor: commands, only: append([]string{
		"cmd/internal/credentials", "platform",
	}, commandKit...)},
	{path: "cmd/internal/callers", floor: commands, only: commandKit},
	{path: "cmd/internal/projects", floor: commands, only: append([]string{
		"cmd/internal/credentials", "core/policy", "core/snapshot", "platform",
	}, commandKit...)},
	{path: "cmd/internal/export", floor: commands, only: append([]string{
		"bundle", "core/configfile", "core/filelimits", "core/movein",
	}, commandKit...)},
	{path: "app", floor: wiring},

	{path: "handlers", floor: edges, peers: []string{"handlers"}},
	{path: "handlers/api", floor: edges, peers: []string{"handlers/web"}},
	{path: "handlers/page", floor: edges, peers: []string{"handlers/web", "views"}},
	{path: "handlers/pages", floor: edges, peers: []string{
		"handlers/page", "handlers/web", "views", "static", "docs",
	}},
	{path: "handlers/oidc", floor: edges, peers: []string{"handlers/web", "views"}},
	{path: "handlers/scim", floor: edges, peers: []string{"handlers/web"}},
	{path: "handlers/web", floor: edges, peers: []string{"views"}},
	{path: "views", floor: edges, only: []string{"views/ui", "static", "core/contract"}},
	{path: "static", floor: edges, only: []string{}},
	{path: "docs", floor: edges, only: []string{}},
	{path: "jobs", floor: edges},
	{path: "client", floor: edges, only: []string{"core/contract", "platform/fault", "platform/listjson"}},
	{path: "gateway", floor: edges, only: []string{
		"gateway/engine", "gateway/h2", "gateway/h2upstream", "gateway/admission", "gateway/balance", "core/diagnosis",
		"core/openapi", "core/policy", "core/snapshot", "platform/egress", "platform/turns",
	}},
	{path: "gateway/accesslog", floor: edges, only: []string{"gateway", "core"}},
	{path: "gateway/bearer", floor: edges, only: []string{
		"core", "platform/egress", "platform/exactjson", "platform/syncmap",
	}},

	{path: "service/access", floor: service},
	{path: "service/accounts", floor: service, peers: []string{"service/access"}},
	{path: "service/appclients", floor: service, peers: []string{
		"service/access", "service/directory", "service/login/providers",
	}},
	{path: "service/audit", floor: service, peers: []string{"service/access"}},
	{path: "service/backups", floor: service},
	{path: "service/certificates", floor: service},
	{path: "service/diagnostics", floor: service, peers: []string{
		"service/access", "service/appclients", "service/introspection", "service/login/tokencheck", "service/projects",
	}},
	{path: "service/directory", floor: service, peers: []string{"service/access", "service/keys"}},
	{path: "service/domains", floor: service, peers: []string{"service/access"}},
	{path: "service/exports", floor: service, peers: []string{
		"service/access", "service/keys", "service/projects", "service/serving",
	}},
	{path: "service/idempotency", floor: service},
	{path: "service/imports", floor: service, peers: []string{
		"service/access", "service/appclients", "service/directory", "service/keys", "service/projects",
		"service/relations",
	}},
	{path: "service/movein", floor: service, peers: []string{
		"service/access", "service/directory", "service/domains", "service/keys", "service/projects",
	}},
	{path: "service/introspection", floor: service, peers: []string{"service/login", "service/projects"}},
	{path: "service/keys", floor: service, peers: []string{"service/access"}},
	{path: "service/relations", floor: service, peers: []string{"service/access"}},
	{path: "service/login", floor: service, peers: []string{
		"service/access", "service/appclients", "service/directory", "service/login/providers",
		"service/login/tokencheck",
	}},
	{path: "service/login/providers", floor: service, peers: []string{"service/login/tokencheck"}},
	{path: "service/login/tokencheck", floor: service},
	{path: "service/projects", floor: service, peers: []string{
		"service/access", "service/accounts", "service/keys", "service/serving",
	}},
	{path: "service/ratelimit", floor: service},
	{path: "service/retention", floor: service, peers: []string{"service/access"}},
	{path: "service/serving", floor: service, peers: []string{"service/keys", "service/relations"}},
	{path: "service/tokens", floor: service, peers: []string{"service/access", "service/accounts"}},
	{path: "service/usage", floor: service, peers: []string{"service/access"}},
	{path: "service/webhooks", floor: service, peers: []string{"service/access", "service/accounts"}},

	{path: "bundle", floor: export, only: []string{"bundle", "core", "platform/fault", "platform/listjson"}},

	{path: "core/contract", floor: core, only: []string{}},
	{path: "core/diagnosis", floor: core, only: []string{"core/contract"}},
	{path: "core/filelimits", floor: core, only: []string{}},
	{path: "core/keyfile", floor: core, only: []string{"core/contract", "core/filelimits", "core/policy"}},
	{path: "core/configfile", floor: core, only: []string{"core/filelimits"}},
	{path: "core/awsfile", floor: core, only: []string{"core/configfile", "core/filelimits"}},
	{path: "core/kongfile", floor: core, only: []string{"core/configfile", "core/filelimits"}},
	{path: "core/movein", floor: core, only: []string{
		"core/awsfile", "core/configfile", "core/contract", "core/filelimits", "core/keyfile", "core/kongfile",
		"core/policy",
	}},
	{path: "core/openapi", floor: core, only: []string{
		"core/contract", "core/filelimits", "core/openapi", "core/policy", "core/snapshot",
	}},
	{path: "core/policy", floor: core, only: []string{"core/snapshot"}},
	{path: "core/snapshot", floor: core, only: []string{"core/contract"}},

	{path: "models", floor: rows, peers: []string{"migrations"}},
	{path: "migrations", floor: rows},

	{path: "platform/ascii", floor: platform},
	{path: "platform/certs", floor: platform},
	{path: "platform/config", floor: platform, peers: []string{"platform/secrets"}},
	{path: "platform/egress", floor: platform, peers: []string{"platform/fault"}},
	{path: "platform/exactjson", floor: platform},
	{path: "platform/fault", floor: platform},
	{path: "platform/federation", floor: platform, peers: []string{
		"platform/exactjson", "platform/secrets", "platform/traces",
	}},
	{path: "platform/listjson", floor: platform},
	{path: "platform/mail", floor: platform, peers: []string{"platform/config", "platform/traces"}},
	{path: "platform/metrics", floor: platform},
	{path: "platform/nice", floor: platform},
	{path: "platform/scratch", floor: platform},
	{path: "platform/secrets", floor: platform, peers: []string{"platform/scratch", "platform/syncmap"}},
	{path: "platform/syncmap", floor: platform},
	{path: "platform/traces", floor: platform},
	{path: "platform/turns", floor: platform},

	{path: "deploy", floor: testOnly}, // no Go
	{path: "e2e", floor: testOnly},
	{path: "testkit", floor: testOnly},
	{path: "tools", floor: testOnly},
}

// library is a module, or a part of the standard library, that only some folders
// import.
type library struct {
	path    string
	folders []string
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
	// jobs and app: a job in the caller's transaction; secrets: the type of a sealed column
	{"database/sql", []string{"models", "migrations", "jobs", "app", "platform/secrets"}},
	{"github.com/a-h/templ", []string{"views", "handlers"}},
	{"github.com/spf13/cobra", []string{"cmd"}},
	{"github.com/prometheus", []string{"platform/metrics"}},
	{"go.opentelemetry.io", []string{"platform/traces"}},
	{"github.com/yuin/goldmark", []string{"docs"}},
	{"github.com/wneessen/go-mail", []string{"platform/mail"}},
	{"code.dny.dev/ssrf", []string{"platform/egress"}},
	{"github.com/go-jose", []string{"platform/exactjson", "platform/federation", "service/login", "gateway/bearer"}},
	{"filippo.io/age", []string{"bundle", "service/backups", "service/exports"}},
	{"golang.org/x/crypto/acme", []string{"service/certificates", "app"}}, // app: the name of its protocol (ALPN)
	{"golang.org/x/oauth2", []string{"platform/federation", "service/login"}},
	{"github.com/coreos/go-oidc", []string{"platform/federation", "service/login"}},
	{"github.com/tink-crypto", []string{"platform/secrets"}},
	{"github.com/minio", []string{"service/exports"}},
	{"gopkg.in/ini.v1", []string{"service/exports"}},
	{"github.com/getkin/kin-openapi", []string{"bundle"}}, // in a test of what it writes
	{"github.com/chromedp", []string{}},
}

// unreachable are packages that a folder must not reach, not even through others.
var unreachable = map[string][]string{
	// The data plane can run alone, without a database.
	"gateway": {"database/sql", "gorm.io", "github.com/riverqueue", "github.com/gin-gonic"},
	// Decisions and bundles are functions of their input.
	"core/policy":   {"database/sql", "os/exec"},
	"core/snapshot": {"database/sql", "os/exec"},
	"bundle":        {"database/sql", "os/exec"},
}

// mayRepeat are the folders whose structs may have the members of a type of the contract: the contract itself, what the
// gateway serves, and rows.
var mayRepeat = []string{"core/contract", "core/snapshot", "models"}

// repeated are structs with five or more members in common with a type of the contract, by folder and name, with the
// reason why each is its own type.
var repeated = map[string]string{
	"bundle.Item":                  "has where an item comes from and where it goes, and no count",
	"bundle.ManifestCounts":        "counts what is in the zip, not what an import creates",
	"bundle.ManifestOptions":       "options of an export, without its state",
	"bundle.environmentDoc":        "has hosts, routes and what upstreams get, and no ETag",
	"bundle.projectDoc":            "has a whole project",
	"bundle.versionDoc":            "has the document of a version, and no ETag",
	"bundle/kong.changesDoc":       "serves Kong's transformers too, whose lists are grouped",
	"bundle/kong.corsConfig":       "the schema of Kong's own plugin",
	"client.Listed":                "has what an item of any list may have, for completion",
	"cmd/internal/export.verified": "what verify prints of a file, without a server",
	"core/openapi.Operation":       "as it is stored, with a digest",
	"core/openapi.Summary":         "as it is stored; the contract's adds what was changed",
	"gateway.publicKey":            "the gateway does not import the contract",
	"handlers/oidc.managedMember":  "the answer to a PUT has no since",
	"platform/federation.Profile":  "the claims of OpenID Connect, read below the contract",
}

// vague are names that say nothing of what is in a package or a file.
var vague = []string{
	"util",
	"utils",
	"common",
	"helper",
	"helpers",
	"manager",
	"managers",
	"types",
	"misc",
	"shared",
	"base",
	"lib",
}

// maxLines is the first number of lines that is too many for one source file.
const maxLines = 500

// maxColumns is how wide a line may be, with a tab as tabColumns of them. These
// may be wider: a line with a struct tag in Go, a single attribute and the path of an
// icon in a page, the row of a table, a lone address and what stands between fences
// in a document.
const (
	maxColumns = 120
	tabColumns = 4
)
