package ascode

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/handlers/page"
)

const (
	aVersion     = "/projects/:project/versions/:version"
	aPlace       = aVersion + "/environments/:environment"
	ofVersion    = "{project} {version}"
	ofPlace      = "{project} {version} {environment}"
	headersRoute = aPlace + "/upstream-headers"
	signingPath  = "/projects/:project/call-signing"
	domainsRoute = "/projects/:project/domains"
)

// domainFields are the fields of which calls a custom domain takes, and where it leads.
var domainFields = []string{"path_prefix", "strip_prefix", "methods", "environment"}

var versionPages = map[string]Page{
	aVersion: shows(contract.GetVersion).alsoShows(contract.GetVersionCallers),
	aPlace: shows(contract.GetEnvironment).alsoShows(contract.GetEnvironmentCallers).
		alsoShows(contract.ListUpstreams),
	aVersion + "/access": shows(contract.GetVersion),

	headersRoute:                   shows(contract.ListUpstreamHeaders),
	headersRoute + "/:name":        shows(contract.GetUpstreamHeader),
	aPlace + "/client-certificate": shows(contract.GetClientCertificate),

	aVersion + "/rules": shows(contract.GetRules).alsoShows(contract.ListShadowRefusals).
		alsoShows(contract.ListRelationMisses),
	aVersion + "/transforms": shows(contract.GetTransforms),
	aVersion + "/openapi": reads(contract.GetOpenAPIDocument.ID, "openapi show "+ofVersion).
		and(contract.ListOpenAPIOperations.ID, "").alsoShows(contract.GetOpenAPISettings).
		alsoShows(contract.ListInvalidRequests),
	aVersion + "/openapi/operation": reads(contract.GetOpenAPIDocument.ID, "openapi show "+ofVersion),
}

// placeForms are those of versions and environments.
var placeForms = map[string][]Call{
	"/projects/:project/versions": submits(contract.CreateVersion, "name", "copy_from"),
	aVersion:                      submits(contract.UpdateVersion, "name"),
	aVersion + "/delete":          removal("delete-version", "versions delete "+ofVersion+" --yes"),
	aVersion + "/environments":    submits(contract.CreateEnvironment, "name", "target"),
	aPlace:                        submits(contract.UpdateEnvironment, "name"),
	aPlace + "/delete":            removal("delete-environment", "environments delete "+ofPlace+" --yes"),
	aPlace + "/target":            submits(contract.UpdateEnvironment, "target"),
	aPlace + "/targets":           carriesOut(contract.UpdateEnvironment, targetFields()...),
	aPlace + "/checks":            carriesOut(contract.UpdateEnvironment, checkFields()...),
	aPlace + "/breaker": carriesOut(contract.UpdateEnvironment,
		numberFields("upstream.breaker", contract.UpstreamBreaker{}.Numbers())...),
	aPlace + "/timeouts":    carriesOut(contract.UpdateEnvironment, timeoutFields()...),
	aPlace + "/retries":     carriesOut(contract.UpdateEnvironment, retryFields()...),
	aPlace + "/http":        carriesOut(contract.UpdateEnvironment, httpFields()...),
	aPlace + "/tls":         carriesOut(contract.UpdateEnvironment, tlsFields()...),
	aPlace + "/host-header": submits(contract.UpdateEnvironment, "host_header"),
}

func httpFields() []Field { return fieldsOf(contract.UpdateEnvironment, "http") }

// timeoutFields are those of an environment's upstream. An empty one is the default.
func timeoutFields() []Field {
	return numberFields("upstream.timeouts", contract.UpstreamTimeouts{}.Numbers())
}

// numberFields are the members within a part of an environment's upstream. An empty number is the default.
func numberFields(within string, numbers []contract.UpstreamNumber) []Field {
	fields := fieldsOf(contract.UpdateEnvironment, contract.MembersWithin(contract.UpdateEnvironment, within)...)
	for i := range fields {
		for _, n := range numbers {
			if n.Name == fields[i].Name {
				fields[i] = fields[i].Or(strconv.Itoa(n.Default))
			}
		}
	}
	return fields
}

// checkFields are the checks of targets.
func checkFields() []Field {
	return numberFields("upstream.checks", contract.UpstreamChecks{}.Numbers())
}

// targetFields are the rows of targets, and how calls are spread over them.
func targetFields() []Field {
	return []Field{
		Func("url", "upstream.targets", func(form url.Values) (any, [][]string) {
			targets, flags := []contract.UpstreamTarget{}, [][]string{}
			for i, typed := range form["url"] {
				one := contract.UpstreamTarget{URL: strings.TrimSpace(typed)}
				if one.URL == "" {
					continue
				}
				if i < len(form["weight"]) {
					if weight, ok := page.WholeNumber(form["weight"][i]); ok {
						one.Weight = new(int(weight))
					}
				}
				targets = append(targets, one)
				flags = append(flags, []string{"--weighted-target", one.String()})
			}
			return targets, flags
		}).With("weight"),
		Func("balance", "upstream.balance", func(form url.Values) (any, [][]string) {
			balance := contract.UpstreamBalance(form.Get("balance"))
			if balance == contract.HashHeader {
				balance += contract.UpstreamBalance(strings.TrimSpace(form.Get("balance_header")))
			}
			return balance, [][]string{{"--balance", string(balance)}}
		}).With("balance_header"),
	}
}

// retryFields are when calls are sent to an environment's upstream again. An empty number is the default.
func retryFields() []Field {
	members := contract.MembersWithin(contract.UpdateEnvironment, "upstream.retries")
	fields := fieldsOf(contract.UpdateEnvironment, members...)
	fields[0] = fields[0].Or(strconv.Itoa(*contract.UpstreamRetries{}.Stated().Max))
	return fields
}

// tlsFields are the TLS settings of an environment's upstream. Lines name a file in place of the certificates, among
// which someone could have pasted a private key.
func tlsFields() []Field {
	return append(fieldsOf(contract.UpdateEnvironment, "system", "server_name"),
		Func("pem", "upstream.ca.pem", func(form url.Values) (any, [][]string) {
			if strings.TrimSpace(form.Get("pem")) == "" {
				return "", [][]string{{"--ca", ""}}
			}
			return Placeholder("pem"), [][]string{{"--ca", "FILE"}}
		}))
}

// removal is that of a version or an environment. The form has a field for the name if it
// stops calls, which the API asks to confirm.
func removal(operation, command string) []Call {
	stops := func(form url.Values) bool { return form.Has("typed_name") }
	return []Call{
		{When: stops, Operation: operation, Command: command, Query: []Field{Fixed("confirm", true)}},
		{Operation: operation, Command: command},
	}
}

// versionForms are those of what a version asks of callers and does to calls.
func versionForms(read Readers) map[string][]Call {
	rules := func(form url.Values) any {
		body := &Object{}
		body.Set("default", form.Get("default"))
		body.Set("mode", form.Get("rules_mode"))
		body.Set("read_write_scopes", form.Get("read_write_scopes") == "true")
		body.Set("rules", read.Rules(form.Get("rules")))
		return body
	}
	transforms := func(form url.Values) any { return read.Transforms(form.Get("transforms")) }
	asInput := func(body func(url.Values) any) func(url.Values) string {
		return func(form url.Values) string { return document(body(form)) }
	}
	return map[string][]Call{
		aVersion + "/rules": {{
			Operation: "set-rules", Command: "rules set " + ofVersion + " --file -", Body: rules, Input: asInput(rules),
		}},
		aVersion + "/transforms": {{
			Operation: "set-transforms", Command: "transforms set " + ofVersion + " --file -", Body: transforms,
			Input: asInput(transforms),
		}},
		aVersion + "/access": carriesOut(contract.UpdateVersion, accessFields(read)...),
		aVersion + "/addresses": carriesOut(contract.UpdateVersion,
			Joined(PerLine("ip_allow", "ip.allow", "--ip-allow").Keep()),
			Joined(PerLine("ip_deny", "ip.deny", "--ip-deny").Keep())),
		aVersion + "/openapi": {
			{
				When: has("openapi_url"), Operation: contract.SetOpenAPIDocument.ID,
				Command: "openapi set " + ofVersion + " {openapi_url}",
				Fields:  []Field{Text("openapi_url", "url", "")},
			},
			{
				Operation: contract.SetOpenAPIDocument.ID, Command: "openapi set " + ofVersion + " openapi.json",
				Body: func(url.Values) any { return Raw("@openapi.json") },
				Note: "Save the document as openapi.json first.",
			},
		},
		aVersion + "/openapi/remove":   submits(contract.RemoveOpenAPIDocument),
		aVersion + "/openapi/settings": submits(contract.SetOpenAPISettings, "validation", "publication"),
	}
}

func accessFields(read Readers) []Field {
	takes := func(form url.Values, method string) bool {
		for _, one := range form["methods"] {
			if one == method {
				return true
			}
		}
		return false
	}
	members := contract.MembersWithin(contract.UpdateVersion, "requests_auth")
	return append(fieldsOf(contract.UpdateVersion, members...),
		Func("key_in", "requests_auth.api_key.in", func(form url.Values) (any, [][]string) {
			if !takes(form, "api_key") {
				return nil, nil
			}
			places, lines := read.KeyPlaces(form)
			var flags [][]string
			for _, line := range lines {
				flags = append(flags, []string{"--key-in", line})
			}
			return places, flags
		}),
		Func("key_send_metadata", "requests_auth.api_key.send_metadata", func(form url.Values) (any, [][]string) {
			if !takes(form, "api_key") {
				return nil, nil
			}
			send := form.Get("key_send_metadata") == "true"
			return send, [][]string{{fmt.Sprintf("--send-key-metadata=%t", send)}}
		}),
		Func("issuer", "requests_auth.jwt.allowed_pairs", func(form url.Values) (any, [][]string) {
			if !takes(form, "jwt") {
				return nil, nil
			}
			pairs, lines := read.Issuers(form)
			var flags [][]string
			for _, line := range lines {
				flags = append(flags, []string{"--token-issuer", line})
			}
			return pairs, flags
		}),
		Func("introspection", "requests_auth.opaque", func(form url.Values) (any, [][]string) {
			opaque, line := read.Endpoint(form)
			if !takes(form, "opaque") || line == "" {
				return nil, nil
			}
			flags := [][]string{{"--introspection", line}}
			if form.Get("introspection_secret") != "" {
				flags = append(flags, []string{"--introspection-secret-file", "FILE"})
			}
			return opaque, flags
		}))
}

// upstreamForms are those of what environments send to their upstreams, and of host names.
var upstreamForms = map[string][]Call{
	aPlace + "/check": submits(contract.CheckTarget),
	headersRoute: carriesOut(contract.SetUpstreamHeader,
		Secret("secret_value", "value", "--file").Need()),
	headersRoute + "/:name/remove": submits(contract.RemoveUpstreamHeader),
	aPlace + "/client-certificate": carriesOut(contract.SetClientCertificate,
		Secret("certificate", "certificate", "--certificate").Need(),
		Secret("private_key", "private_key", "--private-key").Need()),
	aPlace + "/client-certificate/remove": submits(contract.RemoveClientCertificate),
	signingPath:                           submits(contract.EnableCallSigning),
	signingPath + "/rotate": {
		carriesOut(contract.RotateCallSigningKey, Fixed("signs_in_seconds", 0, "--signs-in", "0"),
			Fixed("grace_seconds", 0, "--grace", "0"))[0].when(is("when", "now")),
		submits(contract.RotateCallSigningKey)[0],
	},
	signingPath + "/disable":         submits(contract.DisableCallSigning),
	domainsRoute:                     submits(contract.CreateDomain, slices.Concat([]string{"host"}, domainFields)...),
	domainsRoute + "/:domain":        submits(contract.UpdateDomain, domainFields...),
	domainsRoute + "/:domain/verify": submits(contract.VerifyDomain),
	domainsRoute + "/:domain/remove": submits(contract.DeleteDomain),
}
