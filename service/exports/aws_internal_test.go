package exports

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/minio/minio-go/v7/pkg/credentials"

	"postern/testkit/servers"
)

// writeFile writes a file of the AWS tools, and returns its path.
func writeFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAWSRegion(t *testing.T) {
	config := writeFile(t, "config", "[default]\nregion = eu-west-1\n\n[profile team]\nregion = eu-west-2\n")
	for _, tt := range []struct {
		name      string
		variables map[string]string
		want      string
	}{
		{"none", nil, ""},
		{"variable", map[string]string{"AWS_REGION": "eu-central-1", "AWS_CONFIG_FILE": config}, "eu-central-1"},
		{"other variable", map[string]string{"AWS_DEFAULT_REGION": "eu-central-2"}, "eu-central-2"},
		{"file", map[string]string{"AWS_CONFIG_FILE": config}, "eu-west-1"},
		{"profile", map[string]string{"AWS_CONFIG_FILE": config, "AWS_PROFILE": "team"}, "eu-west-2"},
		{"other profile", map[string]string{"AWS_CONFIG_FILE": config, "AWS_PROFILE": "other"}, ""},
		{"no file", map[string]string{"AWS_CONFIG_FILE": config + ".missing"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			servers.SetS3Environ(t)
			for name, value := range tt.variables {
				t.Setenv(name, value)
			}
			if got, err := awsRegion(); got != tt.want || err != nil {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestAWSCredentials(t *testing.T) {
	file := writeFile(t, "credentials", "[default]\naws_access_key_id = AKIA1\naws_secret_access_key = canary1\n\n"+
		"[team]\naws_access_key_id = AKIA2\naws_secret_access_key = canary2\naws_session_token = token2\n\n"+
		"[half]\naws_access_key_id = AKIA3\n")
	fromFile := map[string]string{
		"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "AWS_SHARED_CREDENTIALS_FILE": file,
	}
	for _, tt := range []struct {
		name, profile string
		variables     map[string]string
		key, token    string // none: no credentials
	}{
		{"variables", "", map[string]string{"AWS_SHARED_CREDENTIALS_FILE": file}, servers.S3AccessKey, ""},
		{"file", "", fromFile, "AKIA1", ""},
		{"profile", "team", fromFile, "AKIA2", "token2"},
		{"half a pair", "half", fromFile, "", ""},
		{"no such profile", "other", fromFile, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			servers.SetS3Environ(t)
			t.Setenv("AWS_PROFILE", tt.profile)
			for name, value := range tt.variables {
				t.Setenv(name, value)
			}
			got, err := awsCredentials().GetWithContext(&credentials.CredContext{})
			if got.AccessKeyID != tt.key || got.SessionToken != tt.token ||
				errors.Is(err, errNoCredentials) != (tt.key == "") {
				t.Errorf("got %q, token %q, %v", got.AccessKeyID, got.SessionToken, err)
			}
		})
	}
}

func TestAWSTransport_bundle(t *testing.T) {
	servers.SetS3Environ(t)
	for _, path := range []string{writeFile(t, "roots.pem", "no certificate"), "/missing"} {
		t.Setenv("AWS_CA_BUNDLE", path)
		if _, err := awsTransport(); err == nil {
			t.Errorf("%s was accepted", path)
		}
	}
}
