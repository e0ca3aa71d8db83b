package projects

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"postern/core/contract"
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
func environmentsFrom(doc *openapi.Document, fetchedFrom string) map[string]contract.EnvironmentTarget {
	out := map[string]contract.EnvironmentTarget{}
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
		name := freeEnvironment(out, environmentName(server))
		out[name] = contract.EnvironmentTarget{Target: target.String()}
	}
	return out
}

// environmentNames are those of environments other than prod, with the words that stand for them.
var environmentNames = []struct{ name, words string }{
	{"sandbox", "sandbox"}, {"staging", "staging stage"}, {"test", "test testing tests"},
	{"dev", "dev development"}, {"mock", "mock mocks"},
}

// environmentName names an environment after a word in the description or the address of its server, such as dev2 in
// https://api-dev2.example.com. The last part of a host name is not one: dev and test are top-level domains too.
func environmentName(server openapi.Server) string {
	address := server.URL
	if u, err := url.Parse(address); err == nil {
		host := u.Hostname()
		if last := strings.LastIndexByte(host, '.'); last >= 0 {
			host = host[:last]
		}
		address = host + " " + u.Path
	}
	said := strings.FieldsFunc(strings.ToLower(server.Description+" "+address), func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c)
	})
	for _, one := range environmentNames {
		for _, word := range said {
			if slices.Contains(strings.Fields(one.words), strings.TrimRight(word, "0123456789")) {
				return one.name
			}
		}
	}
	return defaultEnvironment
}

func freeEnvironment(taken map[string]contract.EnvironmentTarget, name string) string {
	free := name
	for n := 2; taken[free].Target != ""; n++ {
		free = name + "-" + strconv.Itoa(n)
	}
	return free
}
