package kong

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"postern/core/snapshot"
	"postern/testkit/sample"
)

// start.sh starts nothing while the value of a secret is missing.
func TestStartScript_upstreamHeaders(t *testing.T) {
	in := sampleInput()
	in.Project.Versions[0].Environments[1].Headers = []snapshot.UpstreamHeader{{Name: "Authorization"}, {Name: "X-A"}}
	in.Project.CallSigningKeys = []snapshot.CallSigningKey{{ID: "k", Public: []byte("k")}}
	in.Project.Versions[0].Environments[1].Certificate = &snapshot.ClientCertificate{Chain: "chain"}
	const signing, clientKey = "CALL_SIGNING_KEY", "UPSTREAM_1_0_0_PROD_CLIENT_KEY"
	const clientKeyLine = clientKey + `="-----BEGIN PRIVATE KEY-----\nMC4=\n-----END PRIVATE KEY-----\n"` + "\n"
	const authorization, other = "UPSTREAM_1_0_0_PROD_AUTHORIZATION", "UPSTREAM_1_0_0_PROD_X_A"
	for name, tt := range map[string]struct {
		file string
		env  []string
		lack string
	}{
		"nothing": {"", nil, "no value for " + authorization + " " + other + " " + clientKey + " " + signing +
			": copy .env.example"},
		"the example as it is": {
			authorization + "=\n" + other + "=\n", nil, "no value for " + authorization + " " + other,
		},
		"one of two": {
			authorization + "='Bearer x'\n" + signing + "=MC4=\n" + clientKeyLine, nil, "no value for " + other + ":",
		},
		"all but the key": {
			authorization + "=a\n" + other + "=b\n" + clientKeyLine, nil, "no value for " + signing + ":",
		},
		"an empty client key": {authorization + "=a\n" + other + "=b\n" + clientKey + "=\"\"\n" + signing + "=MC4=\n",
			nil, "no value for " + clientKey + ":"},
		"empty quotes": {authorization + "=''\n" + other + "=\"\"\n", nil, "no value for " + authorization},
		"all": {
			authorization + "='Bearer $x'\r\n" + other + " = b#c\n" + signing + "=MC4=\n" + clientKeyLine, nil, "",
		},
		"by the environment": {
			"", []string{authorization + "=a b", other + "=c", signing + "=MC4=", clientKey + "=k"}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigFor(t, in, sample.Keys()["active"].Plaintext, "docker")
			if tt.file != "" {
				if err := os.WriteFile(filepath.Join(r.folder, ".env"), []byte(tt.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			r.env = append(r.env, tt.env...)
			code, out := r.start(t, "ok")
			if tt.lack == "" {
				expect(t, code, 0, out)
				return
			}
			expect(t, code, 1, out, tt.lack)
			if strings.Contains(r.calls(t), "up -d") {
				t.Error("the container was started")
			}
		})
	}
	t.Run("the example names what the compose file hands on", func(t *testing.T) {
		r := newRigFor(t, in, sample.Keys()["active"].Plaintext, "docker")
		for file, line := range map[string]string{
			".env.example":        "\n" + other + "=\n",
			"docker-compose.yaml": "\n      " + other + ": \"${" + other + ":-}\"\n",
		} {
			text, err := os.ReadFile(filepath.Join(r.folder, file))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), line) {
				t.Errorf("%s lacks %q", file, line)
			}
		}
	})
}

func TestStartScript_introspectionSecret(t *testing.T) {
	const variable = "INTROSPECTION_1_0_0_CLIENT_SECRET"
	for name, tt := range map[string]struct {
		env  []string
		lack string
	}{
		"nothing": {nil, "no value for " + variable + ": copy .env.example"},
		"a value": {[]string{variable + "=swordfish"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRigFor(t, opaqueInput(), sample.Keys()["active"].Plaintext, "docker")
			r.env = append(r.env, tt.env...)
			code, out := r.start(t, "ok")
			if tt.lack == "" {
				expect(t, code, 0, out, "ok    /1.0.0/prod/ with an invalid token: 401")
				return
			}
			expect(t, code, 1, out, tt.lack)
		})
	}
}
