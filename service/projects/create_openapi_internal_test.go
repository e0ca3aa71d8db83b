package projects

import (
	"testing"

	"postern/core/openapi"
)

func TestEnvironmentName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ url, description, want string }{
		{"https://api.example.com/latest", "", "prod"},
		{"https://api.example.com/devices", "", "prod"},
		{"https://api.example.com/v1", "The latest devices, attested", "prod"},
		{"https://api.example.dev/v1", "", "prod"},
		{"https://contest.example.com", "", "prod"},
		{"https://api.example.com/v1", "Production", "prod"},
		{"https://api.test.example.com", "", "test"},
		{"https://api-dev2.example.com", "", "dev"},
		{"https://sandbox.example.com", "For tests", "sandbox"},
		{"https://a.example.com", "Development server", "dev"},
		{"https://a.example.com", "STAGING", "staging"},
		{"https://a.example.com/mock/v1", "", "mock"},
		{"http://test", "", "test"},
	} {
		if got := environmentName(openapi.Server{URL: tt.url, Description: tt.description}); got != tt.want {
			t.Errorf("%s %q: %s, want %s", tt.url, tt.description, got, tt.want)
		}
	}
}
