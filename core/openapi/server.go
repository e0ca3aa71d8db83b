package openapi

import (
	"fmt"
	"strings"

	"postern/core/openapi/tree"
)

// stepsOfServer are those of a server without its texts, most of them for its place.
const stepsOfServer = 8

// servers returns the server URLs of the API, of a path or of an operation.
func (r *reader) servers(of any) (out []Server) {
	at := r.At
	defer func() { r.At = at }()
	list, isList := of.([]any)
	if of != nil && !isList {
		r.warn(flawServer, withPlace(at, "servers"))
	}
	r.Fits(Servers, int64(len(list)))
	for i, one := range r.Each(list) {
		if !r.Spend(stepsOfServer) {
			return nil
		}
		r.At = withPlace(at, fmt.Sprintf("servers, number %d", i+1))
		server, _ := one.(map[string]any)
		template, ok := server["url"].(string)
		if !ok {
			r.warn(flawServer, r.At)
			continue
		}
		variables, _ := server["variables"].(map[string]any)
		if !r.Spend(len(template) / bytesOfStep) {
			return nil
		}
		url := serverURL(template, variables)
		if !r.Spend(len(url)/bytesOfStep) || !r.Fits(ServerURL, int64(len(url))) {
			return nil
		}
		out = append(out, Server{URL: url, Description: tree.Text(server["description"])})
	}
	return out
}

// ownServers notes the servers of a path or an operation, which gateways don't call: an environment has one target for
// all operations.
func (r *reader) ownServers(of any) {
	for _, server := range r.servers(of) {
		if !r.urls[server.URL] {
			r.notes.server(server.URL, r.At)
		}
	}
}

// serverURL returns the URL of a server with the defaults of its variables, or a part of it that is longer than
// ServerURL. A default is a text: what looks like a variable within it stays.
func serverURL(template string, variables map[string]any) string {
	var out strings.Builder
	for rest := template; rest != "" && int64(out.Len()) <= ServerURL.Most; {
		before, after, _ := strings.Cut(rest, "{")
		out.WriteString(before)
		name, more, closed := strings.Cut(after, "}")
		variable, declared := variables[name].(map[string]any)
		if !closed || !declared {
			out.WriteString(rest[len(before):])
			break
		}
		out.WriteString(tree.Scalar(variable["default"]))
		rest = more
	}
	return out.String()
}
