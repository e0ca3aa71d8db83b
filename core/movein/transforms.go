package movein

import (
	"regexp"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/policy"
)

// secretHeader is a header whose value is probably a secret. It becomes an upstream header, whose value is never shown.
var secretHeader = regexp.MustCompile(`(?i)authorization|cookie|key|token|secret|password|credential|auth`)

// readTransforms returns the transforms of a route, and its upstream headers, whose values are secret.
func (p *planner) readTransforms(a *access) (out contract.Transforms, secrets []Header) {
	out.Request.Changes = contract.Changes[contract.RequestChange, contract.RequestChange]{
		Remove: emptyRequest(), Rename: emptyRequest(), Replace: emptyRequest(), Add: emptyRequest(),
		Append: emptyRequest(),
	}
	names, values := contract.ResponseNames{Headers: []string{}, Body: []string{}},
		contract.ResponseValues{Headers: []string{}, Body: []string{}, BodyTypes: []string{}}
	out.Response.Changes = contract.Changes[contract.ResponseNames, contract.ResponseValues]{
		Remove: names, Rename: names, Replace: values, Add: values, Append: values,
	}
	if a.request != nil {
		p.use(a.request)
		secrets = p.readRequest(a.request, &out)
	}
	if a.response != nil {
		p.use(a.response)
		p.readResponse(a.response, &out)
	}
	return out, secrets
}

func emptyRequest() contract.RequestChange {
	return contract.RequestChange{Headers: []string{}, Query: []string{}, Body: []string{}}
}

func (p *planner) readRequest(e *kongfile.Entity, out *contract.Transforms) (secrets []Header) {
	request := &out.Request.Changes
	for _, one := range []struct {
		operation string
		change    *contract.RequestChange
	}{
		{"remove", &request.Remove},
		{"rename", &request.Rename},
		{"replace", &request.Replace},
		{"add", &request.Add},
		{"append", &request.Append},
	} {
		operation, change := one.operation, one.change
		for _, entry := range p.filled(e, operation, "headers") {
			name, value := policy.SplitChange(entry)
			switch {
			case operation != "remove" && operation != "rename" && isTemplate(value):
				p.say(e, "request-transformer.template", operation+" "+name)
			case operation != "remove" && operation != "rename" && secretHeader.MatchString(name):
				secrets = withHeader(secrets, Header{name, value})
				p.say(e, "request-transformer.secret", name)
			case policy.FixedRequestHeader(name) || operation == "rename" && policy.FixedRequestHeader(value),
				operation != "remove" && policy.IsCookieHeader(name):
				p.say(e, "request-transformer.fixed", operation+" "+name)
			default:
				change.Headers = append(change.Headers, entryOf(operation, name, value))
			}
		}
		change.Query = p.arguments(e, operation, "querystring")
		change.Body = p.arguments(e, operation, "body")
	}
	if e.Config("replace", "uri").Text != "" {
		p.say(e, "request-transformer.uri")
	}
	if e.Config("http_method").Text != "" {
		p.say(e, "request-transformer.method")
	}
	return secrets
}

// withHeader adds a header to a list that is sorted by name. Of two values, the first one counts.
func withHeader(list []Header, header Header) []Header {
	at, found := slices.BinarySearchFunc(list, header.Name, func(one Header, name string) int {
		return strings.Compare(one.Name, name)
	})
	if found {
		return list
	}
	return slices.Insert(list, at, header)
}

// filled returns the entries of an operation, without those that have a placeholder: an upstream must not get one.
func (p *planner) filled(e *kongfile.Entity, operation, member string) []string {
	list := e.Config(operation, member)
	var out []string
	for _, item := range list.Items {
		if len(item.Placeholders) > 0 {
			name, _ := policy.SplitChange(item.Text)
			p.say(e, e.PluginName()+".placeholder", operation+" "+name)
			continue
		}
		out = append(out, item.Text)
	}
	if list.Kind == kongfile.Text && len(list.Placeholders) == 0 {
		out = append(out, list.Text)
	}
	return out
}

// arguments returns the entries of an operation on the query or the body.
func (p *planner) arguments(e *kongfile.Entity, operation, member string) []string {
	list := []string{}
	for _, entry := range p.filled(e, operation, member) {
		name, value := policy.SplitChange(entry)
		if operation != "remove" && operation != "rename" && isTemplate(value) {
			p.say(e, "request-transformer.template", operation+" "+name)
			continue
		}
		list = append(list, entryOf(operation, name, value))
	}
	return list
}

func entryOf(operation, name, value string) string {
	if operation == "remove" {
		return name
	}
	return name + ":" + value
}

// isTemplate reports whether Kong computes a value for each call: $(headers.x), $(uri_captures.id).
func isTemplate(value string) bool { return strings.Contains(value, "$(") }

func (p *planner) readResponse(e *kongfile.Entity, out *contract.Transforms) {
	response := &out.Response.Changes
	keep := func(operation, entry string) (string, bool) {
		name, value := policy.SplitChange(entry)
		fixed := policy.FixedResponseHeader(name) || operation == "rename" && policy.FixedResponseHeader(value) ||
			operation != "remove" && policy.IsCookieHeader(name)
		if fixed {
			p.say(e, "response-transformer.fixed", operation+" "+name)
		}
		return entryOf(operation, name, value), !fixed
	}
	headers := func(operation string, list *[]string) {
		for _, entry := range p.filled(e, operation, "headers") {
			if kept, ok := keep(operation, entry); ok {
				*list = append(*list, kept)
			}
		}
	}
	headers("remove", &response.Remove.Headers)
	headers("rename", &response.Rename.Headers)
	response.Remove.Body = append(response.Remove.Body, p.filled(e, "remove", "json")...)
	response.Rename.Body = append(response.Rename.Body, p.filled(e, "rename", "json")...)
	for _, one := range []struct {
		operation string
		values    *contract.ResponseValues
	}{
		{"replace", &response.Replace},
		{"add", &response.Add},
		{"append", &response.Append},
	} {
		operation, values := one.operation, one.values
		headers(operation, &values.Headers)
		values.Body = append(values.Body, p.filled(e, operation, "json")...)
		values.BodyTypes = append(values.BodyTypes, e.Config(operation, "json_types").Texts()...)
	}
}
