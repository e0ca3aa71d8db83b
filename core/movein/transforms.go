package movein

import (
	"regexp"
	"slices"
	"strings"

	"postern/core/configfile"
	"postern/core/contract"
	"postern/core/kongfile"
	"postern/core/policy"
)

// secretHeader is a header whose value is probably a secret. It becomes an upstream header, whose value is never shown.
var secretHeader = regexp.MustCompile(`(?i)authorization|cookie|key|token|secret|password|credential|auth`)

// readTransforms returns the transforms of a route, and its upstream headers, whose values are secret.
func (p *planner) readTransforms(a *access) (contract.Transforms, []Header) {
	plugins := [2]*kongfile.Entity{a.request, a.response}
	one, known := p.found.transforms[plugins]
	if !known {
		one.changes, one.secrets = p.transformsOf(a)
		p.found.transforms[plugins] = one
	}
	return one.changes, one.secrets
}

func (p *planner) transformsOf(a *access) (out contract.Transforms, secrets []Header) {
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
	operations := map[string][]string{} // on headers with secrets
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
			name, value := entry.name, entry.value
			changes := operation != "remove" && operation != "rename"
			secret := changes && (secretHeader.MatchString(name) || entry.isSecret())
			fixed := policy.FixedRequestHeader(name) || operation == "rename" && policy.FixedRequestHeader(value) ||
				operation != "remove" && policy.IsCookieHeader(name)
			switch {
			case changes && isTemplate(value):
				p.say(e, "request-transformer.template", operation+" "+entry.source)
			case changes && entry.nameFilled, operation == "rename" && entry.filled:
				p.say(e, "request-transformer.secret_argument", operation+" "+entry.source)
			case secret && (!policy.CanSetForUpstream(name) || !policy.IsUpstreamHeaderValue(value)):
				p.say(e, "request-transformer.fixed", operation+" "+entry.source)
			case secret:
				p.say(e, "request-transformer.secret", name)
				operations[strings.ToLower(name)] = append(operations[strings.ToLower(name)], operation)
				if listed := len(secrets); listed == len(withHeader(secrets, Header{name, value})) {
					p.say(e, "request-transformer.secret_repeated", name)
				}
				secrets = withHeader(secrets, Header{name, value})
			case fixed:
				p.say(e, "request-transformer.fixed", operation+" "+entry.source)
			default:
				change.Headers = append(change.Headers, entryOf(operation, name, value))
			}
		}
		change.Headers = withoutRepeated(operation, change.Headers, strings.ToLower)
		change.Query = p.arguments(e, operation, "querystring")
		if e.Config(operation, "querystring").IsSet() && len(e.Config(operation, "querystring").Texts()) > 0 {
			p.say(e, "request-transformer.query")
		}
		change.Body = p.arguments(e, operation, "body")
	}
	for _, done := range operations {
		if !slices.Contains(done, "add") || !slices.Contains(done, "replace") {
			p.say(e, "request-transformer.secret_always")
		}
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

// change is an entry of an operation.
type change struct {
	name, value string
	source      string // the name before placeholders were filled
	filled      bool   // a placeholder in it was filled, so it can be a secret
	nameFilled  bool
	place       int // in its list
}

// secretArgument is an argument of a query or body, or a response header, whose value is probably a secret.
var secretArgument = regexp.MustCompile(`(?i)secret|token|passw|pwd|credential|authoriz|cookie|signature|` +
	`key($|[-_.])|(^|[-_.])(auth|sig|pass|pin)($|[-_.])`)

// secretValue is a value of Authorization.
var secretValue = regexp.MustCompile(`(?i)^(basic|bearer) `)

func (c *change) isSecret() bool {
	return c.filled || secretArgument.MatchString(c.name) || secretValue.MatchString(c.value)
}

// filled returns the entries of an operation, without those that have a placeholder: an upstream must not get one.
func (p *planner) filled(e *kongfile.Entity, operation string, member ...string) []change {
	list := e.Config(append([]string{operation}, member...)...)
	items := list.Items
	if list.Kind == configfile.Text {
		items = []configfile.Value{list}
	}
	var out []change
	for i, item := range items {
		one := change{filled: item.IsFilled(), place: i}
		one.name, one.value = policy.SplitChange(item.Text)
		one.source, _ = policy.SplitChange(item.AsWritten())
		one.nameFilled = one.source != one.name
		if len(item.Placeholders) > 0 {
			p.say(e, e.PluginName()+".placeholder", operation+" "+one.source)
			continue
		}
		out = append(out, one)
	}
	return out
}

// arguments returns the entries of an operation on the query or the body. Their values would be shown, so those that
// can be secrets are left out.
func (p *planner) arguments(e *kongfile.Entity, operation, member string) []string {
	list := []string{}
	for _, one := range p.filled(e, operation, member) {
		changes := operation != "remove" && operation != "rename"
		switch {
		case changes && isTemplate(one.value):
			p.say(e, "request-transformer.template", operation+" "+one.source)
		case changes && one.isSecret(), one.filled && operation != "remove":
			p.say(e, "request-transformer.secret_argument", operation+" "+one.source)
		default:
			list = append(list, entryOf(operation, one.name, one.value))
		}
	}
	return withoutRepeated(operation, list, func(name string) string { return name })
}

// withoutRepeated returns entries with each name once: Kong's first one counts, and the last one of replace.
func withoutRepeated(operation string, list []string, same func(name string) string) []string {
	if operation == "append" {
		return list
	}
	out := make([]string, 0, len(list))
	at := map[string]int{}
	for _, entry := range list {
		name, _ := policy.SplitChange(entry)
		n, known := at[same(name)]
		switch {
		case !known:
			at[same(name)] = len(out)
			out = append(out, entry)
		case operation == "replace":
			out[n] = entry
		}
	}
	return out
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
	keep := func(operation string, one change) (string, bool) {
		name, value := one.name, one.value
		fixed := policy.FixedResponseHeader(name) || operation == "rename" && policy.FixedResponseHeader(value) ||
			operation != "remove" && policy.IsCookieHeader(name)
		if fixed {
			p.say(e, "response-transformer.fixed", operation+" "+one.source)
		}
		return entryOf(operation, name, value), !fixed
	}
	shown := func(operation, member string) (out []change) {
		for _, one := range p.filled(e, operation, member) {
			if operation != "remove" && (one.filled || operation != "rename" && one.isSecret()) {
				p.say(e, "response-transformer.secret", operation+" "+one.source)
				continue
			}
			out = append(out, one)
		}
		return out
	}
	headers := func(operation string, list *[]string) {
		for _, one := range shown(operation, "headers") {
			if kept, ok := keep(operation, one); ok {
				*list = append(*list, kept)
			}
		}
		*list = withoutRepeated(operation, *list, strings.ToLower)
	}
	headers("remove", &response.Remove.Headers)
	headers("rename", &response.Rename.Headers)
	for _, one := range shown("remove", "json") {
		response.Remove.Body = append(response.Remove.Body, one.name)
	}
	for _, one := range shown("rename", "json") {
		response.Rename.Body = append(response.Rename.Body, one.name+":"+one.value)
	}
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
		types := e.Config(operation, "json_types").Texts()
		for _, one := range shown(operation, "json") {
			values.Body = append(values.Body, one.name+":"+one.value)
			if one.place < len(types) {
				values.BodyTypes = append(values.BodyTypes, types[one.place])
			}
		}
	}
}
