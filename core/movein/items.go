package movein

import (
	"cmp"
	"slices"
	"strings"

	"postern/core/contract"
	"postern/core/kongfile"
)

// item is an item of the plan that isn't settled yet.
type item struct {
	contract.ImportItem
	used bool // by a route or an owner
	more bool // there are more details
}

// The statuses, from the best to the worst.
var statuses = []string{"exact", "approximate", "lossy", "skipped"}

// fate is what happens to entities for one reason.
type fate struct{ status, note, remedy string }

// say adds a reason to the item of an entity.
func (p *planner) say(e *kongfile.Entity, code string, details ...string) {
	if item := p.items[e]; item != nil {
		item.say(code, details...)
	}
}

// say adds a reason.
func (i *item) say(code string, details ...string) {
	if !slices.Contains(i.Codes, code) {
		i.Codes = append(i.Codes, code)
	}
	for _, one := range details {
		if len(one) > mostDetailBytes { // many entities can have the same one
			one = strings.ToValidUTF8(one[:mostDetailBytes], "") + "…"
		}
		switch {
		case one == "" || slices.Contains(i.Details, one):
		case len(i.Details) == mostDetails:
			i.more = true
		default:
			i.Details = append(i.Details, one)
		}
	}
}

// mostDetails bounds the details of an item, which are compared with each other.
const mostDetails = 100

// mostDetailBytes bounds each of them.
const mostDetailBytes = 200

// used marks an entity as one that something imported has.
func (p *planner) use(e *kongfile.Entity) {
	if item := p.items[e]; item != nil {
		item.used = true
	}
}

// settle sets the status, the note and the remedy from the codes.
func (i *item) settle() {
	if len(i.Codes) == 0 {
		i.Codes = []string{i.Kind}
	}
	slices.SortStableFunc(i.Codes, func(a, b string) int {
		return cmp.Compare(slices.Index(statuses, fateOf(b).status), slices.Index(statuses, fateOf(a).status))
	})
	var notes, remedies []string
	for _, code := range i.Codes {
		f := fateOf(code)
		if i.Status == "" {
			i.Status = f.status
		}
		notes = append(notes, f.note)
		if f.remedy != "" && !slices.Contains(remedies, f.remedy) {
			remedies = append(remedies, f.remedy)
		}
	}
	if i.Status == "skipped" { // an entity that is left out has no other differences
		notes = notes[:1]
		remedies = nil
		if remedy := fateOf(i.Codes[0]).remedy; remedy != "" {
			remedies = []string{remedy}
		}
		i.Codes = i.Codes[:1]
	}
	if i.more {
		i.Details = append(i.Details, "and others")
	}
	i.Note = strings.Join(notes, " ")
	if len(remedies) > 0 {
		i.Remedy = new(strings.Join(remedies, " "))
	}
}

func fateOf(code string) fate {
	if f, ok := fates[code]; ok {
		return f
	}
	if f, ok := pluginFates[code]; ok {
		return f
	}
	if f, ok := closedFates[code]; ok {
		return f
	}
	if f, ok := awsFates[code]; ok {
		return f
	}
	return fates["unknown"]
}

var titles = map[kongfile.Type]string{
	kongfile.Service: "Services", kongfile.Route: "Routes", kongfile.Consumer: "Consumers",
	kongfile.ACL:     "ACL groups",
	kongfile.KeyAuth: "API keys", kongfile.JWTSecret: "JWT credentials", kongfile.BasicAuth: "Passwords",
	kongfile.HMACAuth: "HMAC credentials", kongfile.OAuth2: "OAuth 2.0 clients",
	kongfile.MTLSAuth: "Callers' client certificates",
	kongfile.Upstream: "Upstreams", kongfile.Target: "Targets", kongfile.Certificate: "Certificates",
	kongfile.SNI: "Certificate host names", kongfile.CACertificate: "Certificate authorities",
	kongfile.ConsumerGroup: "Consumer groups", kongfile.Vault: "Vaults",
}

func titleOf(e *kongfile.Entity) string {
	if e.Type == kongfile.Plugin {
		return "Plugin " + e.PluginName()
	}
	if title := titles[e.Type]; title != "" {
		return title
	}
	return "Other: " + string(e.Type)
}

// known are the members of entities that have no meaning of their own here, or that are read elsewhere.
var known = map[kongfile.Type][]string{
	kongfile.Service: {"name", "protocol", "host", "port", "path", "url", "retries", "connect_timeout", "write_timeout",
		"read_timeout", "tls_verify", "tls_verify_depth", "ca_certificates", "client_certificate", "enabled", "routes",
		"plugins"},
	kongfile.Route: {"name", "service", "protocols", "hosts", "paths", "methods", "headers", "snis", "sources",
		"destinations", "expression", "priority", "regex_priority", "strip_path", "preserve_host", "path_handling",
		"https_redirect_status_code", "request_buffering", "response_buffering", "plugins"},
	kongfile.Plugin: {"name", "instance_name", "config", "_config", "enabled", "service", "route", "consumer",
		"consumer_group", "protocols", "run_on"},
	kongfile.Consumer: {"username", "custom_id", "keyauth_credentials", "acls", "jwt_secrets", "basicauth_credentials",
		"hmacauth_credentials", "oauth2_credentials", "mtls_auth_credentials", "plugins", "type", "groups"},
	kongfile.KeyAuth: {"key", "ttl", "consumer"},
	kongfile.ACL:     {"group", "consumer"},
	kongfile.Upstream: {"name", "targets", "algorithm", "slots", "hash_on", "hash_fallback", "hash_on_header",
		"hash_fallback_header", "hash_on_cookie", "hash_on_cookie_path", "hash_on_query_arg", "hash_fallback_query_arg",
		"hash_on_uri_capture", "hash_fallback_uri_capture", "healthchecks", "host_header", "client_certificate",
		"use_srv_name"},
	kongfile.Target:        {"target", "weight", "upstream"},
	kongfile.CACertificate: {"cert", "cert_digest", "name"},
}

// unknownFields notes the members of an entity that the plan doesn't know.
func (p *planner) unknownFields(e *kongfile.Entity) {
	names, listed := known[e.Type]
	if !listed {
		return
	}
	for _, m := range e.Value.Members {
		switch {
		case !m.Value.IsSet(), slices.Contains(names, m.Name),
			slices.Contains([]string{"id", "tags", "created_at", "updated_at", "ws_id", "_comment", "_ignore"}, m.Name):
		default:
			p.say(e, string(e.Type)+".fields", m.Name)
		}
	}
}
