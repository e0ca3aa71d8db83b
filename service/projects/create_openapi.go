package projects

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"postern/core/openapi"
	"postern/platform/egress"
	"postern/service/access"
)

// fillFromOpenAPI reads the document that a project is created with, and fills in what the caller left
// out: the version, the display name, and an environment for each server.
func (s *Service) fillFromOpenAPI(ctx context.Context, p access.Principal, in *CreateInput) (*checkedDocument, error) {
	if len(in.OpenAPI) == 0 || string(in.OpenAPI) == "null" {
		return nil, nil
	}
	const pointer = "/openapi"
	document, address := []byte(in.OpenAPI), ""
	var text string
	if json.Unmarshal(in.OpenAPI, &text) == nil {
		document = []byte(text)
		if strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://") {
			address = text
		}
	}
	doc, err := s.readOpenAPI(ctx, p, pointer, document, address)
	if err != nil {
		return nil, err
	}
	if in.Version == "" && versionPattern.MatchString(doc.Version) {
		in.Version = doc.Version
	}
	if in.DisplayName == "" && len(checkDisplayName(doc.Title)) == 0 {
		in.DisplayName = doc.Title
	}
	if in.Target == "" && len(in.Environments) == 0 {
		in.Environments = environmentsFrom(doc.Document, address)
	}
	return doc, nil
}

// environmentsFrom returns an environment for each server with an absolute address. Addresses relative
// to the document are resolved if it was fetched.
func environmentsFrom(doc *openapi.Document, fetchedFrom string) map[string]string {
	out := map[string]string{}
	base, err := url.Parse(fetchedFrom)
	for _, server := range doc.Servers {
		address := server.URL
		if fetchedFrom != "" && err == nil {
			if relative, err := url.Parse(address); err == nil {
				address = base.ResolveReference(relative).String()
			}
		}
		target, err := egress.ParseTarget(address)
		if err != nil || len(out) == maxEnvironments {
			continue
		}
		out[freeEnvironment(out, environmentName(server))] = target.String()
	}
	return out
}

// environmentName names an environment after what its server is said to be.
func environmentName(server openapi.Server) string {
	said := strings.ToLower(server.Description + " " + server.URL)
	for _, name := range []string{"sandbox", "staging", "test", "dev", "mock"} {
		if strings.Contains(said, name) {
			return name
		}
	}
	return defaultEnvironment
}

func freeEnvironment(taken map[string]string, name string) string {
	free := name
	for n := 2; taken[free] != ""; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
