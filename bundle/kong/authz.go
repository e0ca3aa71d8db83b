package kong

import (
	"fmt"
	"strings"

	"postern/bundle"
	"postern/bundle/openfga"
	"postern/core/snapshot"
)

// The environment variables with the OpenFGA server that stores the owners of objects, its store and its preshared key.
const (
	openFGAURL   = "OPENFGA_URL"
	openFGAStore = "OPENFGA_STORE"
	openFGAToken = "OPENFGA_TOKEN"
)

// openFGADoc names the variables for the plugin, and the store to which load.sh gives a name.
type openFGADoc struct {
	URL   string `json:"url"`
	Store string `json:"store"`
	Token string `json:"token"`
	Name  string `json:"name"`
}

func openFGAOf(p *snapshot.Project) openFGADoc {
	return openFGADoc{openFGAURL, openFGAStore, openFGAToken, openfga.Source{Project: p}.StoreName()}
}

// requiresOwners reports whether an enforced rule requires, records or removes owners of objects.
func requiresOwners(p *snapshot.Project) bool {
	for i := range p.Versions {
		doc, _ := enforcedRules(&p.Versions[i])
		for _, rule := range doc.List {
			if rule.Owner != "" || rule.Remember != "" || rule.Forget != "" {
				return true
			}
		}
	}
	return false
}

// openFGASettings returns the lines of docker-compose.yaml that tell Kong where OpenFGA is.
func openFGASettings(b *bundle.Build) string {
	if !requiresOwners(b.Project) {
		return ""
	}
	out := "\n      # The OpenFGA server that knows who owns an object. start.sh --authz sets its URL."
	for _, name := range []string{openFGAURL, openFGAStore, openFGAToken} {
		out += fmt.Sprintf("\n      %[1]s: \"${%[1]s:-}\"", name)
	}
	return out
}

// openFGAExample returns the part of .env.example about OpenFGA.
func openFGAExample(b *bundle.Build) string {
	if !requiresOwners(b.Project) {
		return ""
	}
	return "\n# The URL of your own OpenFGA server, into which ../authz/load.sh has loaded the export. Example:\n" +
		"# https://openfga.example.com. If it is empty, calls that require the owner of an object are\n" +
		"# refused. start.sh --authz starts OpenFGA on this machine.\n" + openFGAURL + "=\n\n" +
		"# The name or ID of its store, unless it is " + openFGAOf(b.Project).Name + ", and its preshared key, " +
		"if it\n# has one.\n" + openFGAStore + "=\n" + openFGAToken + "=\n"
}

const ownersLate = "ownership that is recorded after a response takes effect a moment later than on the hosted " +
	"gateway. Ownership isn't recorded if OpenFGA doesn't respond for 15 seconds, if the gateway stops before that, " +
	"or if the response is nested more than 1,000 levels deep or contains an unpaired surrogate."

func ownershipFates() []bundle.Fate {
	return []bundle.Fate{
		{
			Reason: "openfga",
			Status: bundle.Lossy,
			How:    "`authz/relations.jsonl`; `authz/tuples.json` for OpenFGA",
			Note: "Object owners are in relations.jsonl. The gateway uses them only with OpenFGA. To start OpenFGA " +
				"and load the owners into it, run start.sh --authz. Without OpenFGA, the gateway refuses all calls " +
				"to routes that require an owner.",
			Remedy: "Start the gateway with ./start.sh --authz, or point OPENFGA_URL in gateway/.env to your own " +
				"OpenFGA.",
		},
		bundle.OwnershipLeftOut, bundle.NoOwnership,
	}
}

// The images of the profile authz: the server, in the version that the exported model is tested with (testkit/servers),
// and curl, which loads the model.
const (
	openFGAImage = "openfga/openfga:v1.22.1"
	curlImage    = "curlimages/curl:8.11.1@sha256:c1fe1679c34d9784c1b0d1e5f62ac0a79fca01fb6377cdd33e90473c6f9f9a69"
)

// authzMark tells start.sh whether there is something to load into OpenFGA.
func authzMark(b *bundle.Build) string {
	if b.HasRules() {
		return "yes"
	}
	return ""
}

// optionalServices returns the services of docker-compose.yaml that options of start.sh start, and
// their volumes.
func optionalServices(b *bundle.Build) string {
	var out strings.Builder
	var volumes []string
	if hasRealm(b) {
		out.WriteString(loginService(b))
		volumes = append(volumes, "login")
	}
	if b.HasRules() {
		out.WriteString(authzServices())
		volumes = append(volumes, "openfga")
	}
	for i, name := range volumes {
		if i == 0 {
			out.WriteString("\n\nvolumes:")
		}
		out.WriteString("\n  " + name + ":")
	}
	return out.String()
}

// authzServices returns OpenFGA and the services that prepare its database and load the exported files. CORS is closed:
// otherwise OpenFGA admits pages of every origin, and every browser of the machine can reach the port.
func authzServices() string {
	const database = `
      OPENFGA_DATASTORE_ENGINE: "sqlite"
      OPENFGA_DATASTORE_URI: "file:/home/nonroot/openfga.db"`
	const hardened = `
    security_opt:
      - "no-new-privileges:true"`
	return `

  # OpenFGA with the project's rules and groups, started only by start.sh --authz. It keeps
  # its state in the volume, and has no password: it listens on this machine only.
  openfga:
    image: "` + openFGAImage + `"
    profiles: ["authz"]
    restart: "unless-stopped"
    command: ["run"]
    depends_on:
      openfga-migrate:
        condition: "service_completed_successfully"
    environment:` + database + `
      OPENFGA_PLAYGROUND_ENABLED: "false"
      OPENFGA_HTTP_CORS_ALLOWED_ORIGINS: "https://none.invalid"
    ports:
      - "127.0.0.1:${OPENFGA_PORT:-8280}:8080"` + hardened + `
    volumes:
      - "openfga:/home/nonroot"
  openfga-migrate:
    image: "` + openFGAImage + `"
    profiles: ["authz"]
    restart: "no"
    command: ["migrate"]
    environment:` + database + hardened + `
    volumes:
      - "openfga:/home/nonroot"
  # Loads ../authz/ into a store, once.
  openfga-load:
    image: "` + curlImage + `"
    profiles: ["authz"]
    restart: "no"
    entrypoint: ["/bin/sh", "/authz/load.sh", "http://openfga:8080"]
    depends_on: ["openfga"]` + hardened + `
    volumes:
      - "../authz:/authz:ro,z"`
}
