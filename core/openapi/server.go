package openapi

import (
	"fmt"
	"strings"

	"postern/core/openapi/tree"
)

// servers reads the addresses of the API.
func (r *reader) servers(of any) {
	list, isList := of.([]any)
	if of != nil && !isList {
		r.Refuse("servers must be a list")
	}
	r.Fits(Servers, int64(len(list)))
	for i, one := range list {
		r.At = fmt.Sprintf("servers, number %d", i+1)
		server, _ := one.(map[string]any)
		template, ok := server["url"].(string)
		if !ok {
			r.Refuse("must be an object with url")
		}
		variables, _ := server["variables"].(map[string]any)
		url := serverURL(template, variables)
		if !r.Spend(len(template)/bytesOfStep+1) || !r.Fits(ServerURL, int64(len(url))) {
			return
		}
		r.Take(Memory, int64(len(url)+len(tree.Text(server["description"]))+perServer))
		r.out.Servers = append(r.out.Servers, Server{URL: url, Description: tree.Text(server["description"])})
	}
	r.At = ""
}

// serverURL returns the address of a server with the defaults of its variables, or a part of it that is longer than
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
		out.WriteString(scalar(variable["default"]))
		rest = more
	}
	return out.String()
}
