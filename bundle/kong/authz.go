package kong

import (
	"strings"

	"postern/bundle"
)

// The images of the profile authz: the server of the version that the exported model is tested with
// (testkit/openfga), and what loads the model.
const (
	openFGAImage = "openfga/openfga:v1.22.1"
	curlImage    = "curlimages/curl:8.11.1"
)

// authzMark returns what start.sh knows of OpenFGA: whether there is something to load.
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

// authzServices returns OpenFGA with what prepares its database and loads the exported files. CORS is
// closed: OpenFGA lets pages of every origin in otherwise, and the port is open to every browser of
// the machine.
func authzServices() string {
	const database = `
      OPENFGA_DATASTORE_ENGINE: "sqlite"
      OPENFGA_DATASTORE_URI: "file:/home/nonroot/openfga.db"`
	const hardened = `
    security_opt:
      - "no-new-privileges:true"`
	return `

  # OpenFGA with the project's rules and groups, started by start.sh --authz only. It keeps
  # its state in the volume, and has no password: it listens on this machine alone.
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
  # Loads ../authz/ into a store, unless that is done.
  openfga-load:
    image: "` + curlImage + `"
    profiles: ["authz"]
    restart: "no"
    entrypoint: ["/bin/sh", "/authz/load.sh", "http://openfga:8080"]
    depends_on: ["openfga"]` + hardened + `
    volumes:
      - "../authz:/authz:ro,z"`
}
