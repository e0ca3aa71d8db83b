package kong

import (
	"fmt"
	"strings"

	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// exampleFile has an empty value for each secret that the zip does not contain.
const exampleFile = "gateway/.env.example"

const exampleDoc = "A variable for each secret that the gateway needs and this zip doesn't contain. Copy the file to " +
	"`.env` in the same folder and fill in the values. `start.sh` lists variables that are still empty.\n"

// signingVariable is the environment variable with the key that signs calls. It can't collide with other secrets, whose
// variables begin with UPSTREAM and INTROSPECTION.
const signingVariable = "CALL_SIGNING_KEY"

// variable is an environment variable of Kong with a secret.
type variable struct {
	name        string
	holds       held
	version     *snapshot.Version     // nil: of the project
	environment *snapshot.Environment // nil: of the version or the project
	header      string                // the name, if it holds a header's value
}

// held is a kind of value that a variable holds.
type held int

const (
	headerValue         held = iota // of an environment's header
	clientKey                       // private key of an environment's client certificate
	introspectionSecret             // client secret at a version's introspection endpoint
	signingKey                      // of the project's calls
)

// variables lists the variables of a project in the order of its ledger.
type variables []variable

// credentialVariables names a variable for each environment and header, such as UPSTREAM_1_0_0_PROD_X_UPSTREAM_TOKEN,
// one for the private key of each client certificate, such as UPSTREAM_1_0_0_PROD_CLIENT_KEY, and one for the secret of
// each introspection endpoint, such as INTROSPECTION_1_0_0_CLIENT_SECRET. If two would have the same name, the later
// one gets a number. The last one is for the key that signs calls.
func credentialVariables(p *snapshot.Project) variables {
	var out variables
	taken := map[string]bool{}
	add := func(plain string, one variable) {
		plain = variableName(plain)
		one.name = plain
		for n := 2; taken[one.name]; n++ {
			one.name = fmt.Sprintf("%s_%d", plain, n)
		}
		taken[one.name] = true
		out = append(out, one)
	}
	for i := range p.Versions {
		v := &p.Versions[i]
		if introspects(v.Access) && v.Access.Introspection().HasSecret {
			add("introspection_"+v.Name+"_client_secret", variable{holds: introspectionSecret, version: v})
		}
		for j := range v.Environments {
			e := &v.Environments[j]
			upstream := "upstream_" + v.Name + "_" + e.Name + "_"
			for _, h := range e.Headers {
				add(upstream+h.Name, variable{holds: headerValue, version: v, environment: e, header: h.Name})
			}
			if e.Certificate != nil {
				add(upstream+"client_key", variable{holds: clientKey, version: v, environment: e})
			}
		}
	}
	if len(p.CallSigningKeys) > 0 {
		out = append(out, variable{name: signingVariable, holds: signingKey})
	}
	return out
}

// signingTag returns the tag of signatures of calls to an environment, "" if the project does
// not sign calls.
func signingTag(p *snapshot.Project, e *snapshot.Environment) string {
	if len(p.CallSigningKeys) == 0 {
		return ""
	}
	return e.ID
}

// variableName replaces the characters that a variable's name can't have. Versions, environments and headers have only
// letters, digits, dots, hyphens and underscores.
func variableName(text string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(text))
}

// headers maps the headers of each environment to their variables.
func (vs variables) headers() map[*snapshot.Environment]map[string]string {
	out := map[*snapshot.Environment]map[string]string{}
	for _, v := range vs {
		if v.holds != headerValue {
			continue
		}
		if out[v.environment] == nil {
			out[v.environment] = map[string]string{}
		}
		out[v.environment][v.header] = v.name
	}
	return out
}

// introspectionSecretOf returns the variable with the client secret at the introspection endpoint of a version, "" if
// there is none.
func (vs variables) introspectionSecretOf(of *snapshot.Version) string {
	for _, v := range vs {
		if v.version == of && v.holds == introspectionSecret {
			return v.name
		}
	}
	return ""
}

func (vs variables) names() []string {
	var out []string
	for _, v := range vs {
		out = append(out, v.name)
	}
	return out
}

// passedOn returns the lines of docker-compose.yaml that pass the variables to Kong.
func (vs variables) passedOn() string {
	var out strings.Builder
	for _, v := range vs {
		fmt.Fprintf(&out, "\n      %s: \"${%s:-}\"", v.name, v.name)
	}
	return out.String()
}

// example returns .env.example, to which Write adds the variables of the login.
func (vs variables) example() string {
	text := "# Secrets that the gateway needs and that the export doesn't contain. Copy this file to\n" +
		"# .env, fill in the values, and keep it out of version control. Unless a comment\n" +
		"# below says otherwise, put values in single quotes, because they may contain $ and #.\n"
	for _, v := range vs {
		switch v.holds {
		case signingKey:
			text += "\n# The key that signs calls to upstreams, from\n" +
				"#   openssl genpkey -algorithm ed25519 -outform DER | base64 -w0\n" +
				"# Give its public key to upstreams.\n" + v.name + "=\n"
		case introspectionSecret:
			text += fmt.Sprintf("\n# The client secret for the introspection endpoint of %s\n%s=\n",
				v.version.Name, v.name)
		case clientKey:
			text += fmt.Sprintf("\n# The private key of the client certificate for calls to %s/%s, as PEM on one "+
				"line and in\n# double quotes, from\n#   awk '{printf \"%%s\\\\n\", $0}' client.key\n%s=\"\"\n",
				v.version.Name, v.environment.Name, v.name)
		case headerValue:
			text += fmt.Sprintf("\n# The %s header of calls to %s/%s\n%s=\n",
				v.header, v.version.Name, v.environment.Name, v.name)
		}
	}
	return text
}

// judgeUpstreamHeader returns the place where the plugin's configuration names the variable of a header, for the first
// of the environment's routes.
func judgeUpstreamHeader(s bundle.Subject) bundle.Verdict {
	_, header, _ := strings.Cut(s.ID, ":")
	route := policy.EntityID(s.Environment.ID + ":" + string(bundle.HostForm))
	return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/routes/%s/upstream/%s", route, header)}
}
