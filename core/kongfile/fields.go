package kongfile

import (
	"math"
	"strings"

	"postern/core/configfile"
)

// The types of fields, as short as the tables need them.
const (
	aText   = configfile.OneText
	aNumber = configfile.OneNumber
	aWhole  = configfile.OneWhole
	aBool   = configfile.OneBool
	texts   = configfile.Texts
)

// The most that Kong accepts. [Kong 3.10: kong/db/schema/typedefs.lua, timeout; kong/db/schema/entities]
const (
	mostMS    = math.MaxInt32 - 1
	mostShort = 65_535
	mostByte  = 255
)

// fields lists the fields that the reader uses. Kong refuses a file with other values in them. The field enabled is
// missing on purpose: a text in it leaves the entity's routes closed.
var fields = map[Type][]configfile.Field{
	Service: {
		{Path: "url", Type: aText}, {Path: "protocol", Type: aText}, {Path: "host", Type: aText},
		{Path: "path", Type: aText}, {Path: "port", Type: aWhole, Max: mostShort},
		{Path: "connect_timeout", Type: aWhole, Min: 1, Max: mostMS},
		{Path: "read_timeout", Type: aWhole, Min: 1, Max: mostMS},
		{Path: "write_timeout", Type: aWhole, Min: 1, Max: mostMS},
		{Path: "retries", Type: aWhole, Max: 32_767},
		{Path: "tls_verify", Type: aBool}, {Path: "ca_certificates", Type: texts},
	},
	Route: {
		{Path: "hosts", Type: texts}, {Path: "paths", Type: texts}, {Path: "methods", Type: texts},
		{Path: "protocols", Type: texts}, {Path: "expression", Type: aText}, {Path: "strip_path", Type: aBool},
		{Path: "preserve_host", Type: aBool}, {Path: "regex_priority", Type: aWhole},
		{Path: "path_handling", Type: aText},
	},
	Upstream: {
		{Path: "algorithm", Type: aText}, {Path: "hash_on", Type: aText}, {Path: "hash_on_header", Type: aText},
		{Path: "host_header", Type: aText},
		{Path: "healthchecks.active.type", Type: aText}, {Path: "healthchecks.active.http_path", Type: aText},
		{Path: "healthchecks.active.timeout", Type: aNumber, Max: mostShort},
		{Path: "healthchecks.active.healthy.interval", Type: aNumber, Max: mostShort},
		{Path: "healthchecks.active.healthy.successes", Type: aWhole, Max: mostByte},
		{Path: "healthchecks.active.healthy.http_statuses", Type: texts},
		{Path: "healthchecks.active.unhealthy.interval", Type: aNumber, Max: mostShort},
		{Path: "healthchecks.active.unhealthy.http_failures", Type: aWhole, Max: mostByte},
		{Path: "healthchecks.passive.unhealthy.http_failures", Type: aWhole, Max: mostByte},
		{Path: "healthchecks.passive.unhealthy.tcp_failures", Type: aWhole, Max: mostByte},
		{Path: "healthchecks.passive.unhealthy.timeouts", Type: aWhole, Max: mostByte},
	},
	Target:  {{Path: "target", Type: aText}, {Path: "weight", Type: aWhole, Max: mostShort}},
	KeyAuth: {{Path: "ttl", Type: aNumber}},
}

// pluginFields are the fields of the configs of plugins that are read.
var pluginFields = map[string][]configfile.Field{
	"key-auth": {
		{Path: "key_names", Type: texts}, {Path: "key_in_header", Type: aBool}, {Path: "key_in_query", Type: aBool},
		{Path: "key_in_body", Type: aBool}, {Path: "hide_credentials", Type: aBool},
		{Path: "run_on_preflight", Type: aBool}, {Path: "anonymous", Type: aText},
	},
	"acl": {
		{Path: "allow", Type: texts}, {Path: "deny", Type: texts}, {Path: "hide_groups_header", Type: aBool},
	},
	"ip-restriction": {
		{Path: "allow", Type: texts}, {Path: "deny", Type: texts}, {Path: "status", Type: aWhole},
	},
	"rate-limiting": {
		{Path: "second", Type: aNumber}, {Path: "minute", Type: aNumber}, {Path: "hour", Type: aNumber},
		{Path: "day", Type: aNumber}, {Path: "month", Type: aNumber}, {Path: "year", Type: aNumber},
		{Path: "limit_by", Type: aText}, {Path: "policy", Type: aText}, {Path: "error_code", Type: aWhole},
		{Path: "hide_client_headers", Type: aBool},
	},
	"cors": {
		{Path: "origins", Type: texts}, {Path: "methods", Type: texts}, {Path: "headers", Type: texts},
		{Path: "exposed_headers", Type: texts}, {Path: "credentials", Type: aBool}, {Path: "max_age", Type: aNumber},
		{Path: "preflight_continue", Type: aBool}, {Path: "private_network", Type: aBool},
	},
	"request-transformer":  transformFields("headers", "querystring", "body"),
	"response-transformer": transformFields("headers", "json", "json_types"),
}

// transformFields are the lists of each operation of a transformer.
func transformFields(lists ...string) (out []configfile.Field) {
	for _, operation := range []string{"remove", "rename", "replace", "add", "append"} {
		for _, list := range lists {
			out = append(out, configfile.Field{Path: operation + "." + list, Type: texts})
		}
	}
	return append(out, configfile.Field{Path: "replace.uri", Type: aText},
		configfile.Field{Path: "http_method", Type: aText})
}

// configFields are the fields of plugins by their names, with their places in the plugin.
var configFields = func() map[string][]configfile.Field {
	out := map[string][]configfile.Field{}
	for name, list := range pluginFields {
		for _, one := range list {
			one.Path = "config." + one.Path
			out[name] = append(out[name], one)
		}
		out[name] = append(out[name], configfile.Field{Path: "protocols", Type: texts})
	}
	return out
}()

// checkFields returns an error if a field of an entity has a value that can't be read, and notes those with
// placeholders that have no value.
func (e *Entity) checkFields() (err error) {
	of, list := "this "+strings.ReplaceAll(string(e.Type), "_", " "), fields[e.Type]
	if e.Type == Plugin {
		name := e.PluginName()
		of, list = "this "+name+" plugin", configFields[name]
	}
	e.Unfilled, err = e.Value.CheckFields(of, list)
	return configfile.In(e.File, err)
}
