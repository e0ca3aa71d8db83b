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

const exampleDoc = "The secrets that the gateway needs and this zip does not contain, one variable each. Copy it to " +
	"`.env` beside it and fill them in; `start.sh` says which are still empty.\n"

// signingVariable is the environment variable with the key that signs calls. No header has
// it: their variables begin with UPSTREAM.
const signingVariable = "CALL_SIGNING_KEY"

// variable is an environment variable of Kong with the value of an environment's header,
// with the private key of its client certificate, or with the key that signs calls.
type variable struct {
	name        string
	environment *snapshot.Environment // nil: of the project
	version     string
	header      string // "": the private key
}

// variables lists the variables of a project in the order of its ledger.
type variables []variable

// credentialVariables names a variable for each environment and header, such as
// UPSTREAM_1_0_0_PROD_X_UPSTREAM_TOKEN, and one for the private key of each client
// certificate, such as UPSTREAM_1_0_0_PROD_CLIENT_KEY. Where two would have one name, the
// later one gets a number. The last one is that of the key that signs calls.
func credentialVariables(p *snapshot.Project) variables {
	var out variables
	taken := map[string]bool{}
	add := func(v *snapshot.Version, e *snapshot.Environment, header, suffix string) {
		plain := variableName("UPSTREAM_" + v.Name + "_" + e.Name + "_" + suffix)
		name := plain
		for n := 2; taken[name]; n++ {
			name = fmt.Sprintf("%s_%d", plain, n)
		}
		taken[name] = true
		out = append(out, variable{name, e, v.Name, header})
	}
	for i := range p.Versions {
		v := &p.Versions[i]
		for j := range v.Environments {
			e := &v.Environments[j]
			for _, h := range e.Headers {
				add(v, e, h.Name, h.Name)
			}
			if e.Certificate != nil {
				add(v, e, "", "client_key")
			}
		}
	}
	if len(p.CallSigningKeys) > 0 {
		out = append(out, variable{name: signingVariable})
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

// variableName replaces what the name of a variable cannot have. Versions, environments and
// headers have no other characters than letters, digits, dots, hyphens and underscores.
func variableName(text string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToUpper(text))
}

// of maps the headers of one environment to their variables.
func (vs variables) of(e *snapshot.Environment) map[string]string {
	var out map[string]string
	for _, v := range vs {
		if v.environment != e || v.header == "" {
			continue
		}
		if out == nil {
			out = map[string]string{}
		}
		out[v.header] = v.name
	}
	return out
}

// clientKeyOf returns the variable with the private key of an environment's client
// certificate, "" if it presents none.
func (vs variables) clientKeyOf(e *snapshot.Environment) string {
	for _, v := range vs {
		if v.environment == e && v.header == "" {
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

// passedOn returns the lines of docker-compose.yaml that hand the variables to Kong.
func (vs variables) passedOn() string {
	var out strings.Builder
	for _, v := range vs {
		fmt.Fprintf(&out, "\n      %s: \"${%s:-}\"", v.name, v.name)
	}
	return out.String()
}

// example returns .env.example, which Write completes with what the login needs.
func (vs variables) example() string {
	text := "# Secrets that the gateway needs and that the export does not contain. Copy this file to\n" +
		"# .env, fill in the values, and keep it out of version control. Write them in single\n" +
		"# quotes, as they may have $ and #, unless it says otherwise below.\n"
	for _, v := range vs {
		switch {
		case v.environment == nil:
			text += "\n# The key that signs calls to upstreams, from\n#   openssl genpkey -algorithm ed25519 " +
				"-outform DER | base64 -w0\n# Give upstreams its public half.\n" + v.name + "=\n"
		case v.header == "":
			text += fmt.Sprintf("\n# The private key of the client certificate of calls to %s/%s, PEM in one line "+
				"and in double\n# quotes, from\n#   awk '{printf \"%%s\\\\n\", $0}' client.key\n%s=\"\"\n",
				v.version, v.environment.Name, v.name)
		default:
			text += fmt.Sprintf("\n# %s of calls to %s/%s\n%s=\n", v.header, v.version, v.environment.Name, v.name)
		}
	}
	return text
}

// judgeUpstreamHeader returns where the plugin's configuration names the variable of a
// header, for the first of the environment's routes.
func judgeUpstreamHeader(s bundle.Subject) bundle.Verdict {
	_, header, _ := strings.Cut(s.ID, ":")
	route := policy.EntityID(s.Environment.ID + ":" + string(bundle.HostForm))
	return bundle.Verdict{Target: bundle.At(gatewayFile, "/plugins/0/config/routes/%s/upstream/%s", route, header)}
}
