package kong

import (
	"postern/bundle"
	"postern/core/policy"
	"postern/core/snapshot"
)

// certificateDoc is the client certificate of an environment. Its key is a reference to an environment variable,
// because the zip doesn't have the private key.
type certificateDoc struct {
	ID   string `json:"id"`
	Cert string `json:"cert"`
	Key  string `json:"key"`
}

func certificateID(e *snapshot.Environment) string {
	return policy.EntityID(e.ID + ":client_certificate")
}

// certificatesOf lists the client certificates of a project's environments.
func certificatesOf(p *snapshot.Project) []certificateDoc {
	var out []certificateDoc
	for _, v := range credentialVariables(p) {
		if v.holds == clientKey {
			out = append(out, certificateDoc{
				ID:   certificateID(v.environment),
				Cert: v.environment.Certificate.Chain,
				Key:  "{vault://env/" + v.name + "}",
			})
		}
	}
	return out
}

// certificates writes the client certificates, if there are any.
func (c *configWriter) certificates() {
	docs := certificatesOf(c.b.Project)
	if len(docs) == 0 {
		return
	}
	c.out.Raw(",\n  \"certificates\": ")
	c.out.Open("[")
	for _, doc := range docs {
		c.out.Next("    ")
		c.out.Value(doc)
	}
	c.out.Raw("\n  ]")
}

// judgeCertificate returns the place of an environment's certificate in gateway.yaml.
func judgeCertificate(b *bundle.Build, s bundle.Subject) bundle.Verdict {
	for i, doc := range certificatesOf(b.Project) {
		if doc.ID == certificateID(s.Environment) {
			return bundle.Verdict{Target: bundle.At(gatewayFile, "/certificates/%d", i)}
		}
	}
	return bundle.Verdict{}
}

func certificateFates() []bundle.Fate {
	return []bundle.Fate{{
		Reason: "key_from_environment",
		Status: bundle.Exact,
		How:    "`certificates`, with the private key from a variable in `.env`",
		Note: "The gateway presents the same client certificate. Its private key is a secret and isn't in this zip. " +
			"Without the key, start.sh doesn't start the gateway, and calls to the environment get 503. They also " +
			"get 503 if the key doesn't match the certificate.",
		Remedy: "Set the private key of the certificate in gateway/.env, as described in gateway/.env.example.",
	}}
}
