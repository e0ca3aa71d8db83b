package exports

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// awsRegion returns the region of the AWS variables and files, and "" if they have none.
func awsRegion() (string, error) {
	for _, name := range []string{"AWS_REGION", "AWS_DEFAULT_REGION"} {
		if region := os.Getenv(name); region != "" {
			return region, nil
		}
	}
	file := os.Getenv("AWS_CONFIG_FILE")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", nil //nolint:nilerr // without a home directory, there are no files
		}
		file = filepath.Join(home, ".aws", "config")
	}
	settings, err := ini.Load(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	section := "default"
	if profile := os.Getenv("AWS_PROFILE"); profile != "" && profile != section {
		section = "profile " + profile
	}
	return settings.Section(section).Key("region").String(), nil
}

// awsAttempts returns how often a request is made at most: AWS_MAX_ATTEMPTS, or 3.
func awsAttempts() int {
	if n, err := strconv.Atoi(os.Getenv("AWS_MAX_ATTEMPTS")); err == nil && n > 0 {
		return n
	}
	return 3
}

// awsTransport returns the transport of requests to a store. Its connections fail if no data arrives for silentFor.
func awsTransport() (*http.Transport, error) {
	dialer := &net.Dialer{Timeout: 30 * time.Second}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dialer.DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return impatientConn{conn}, nil
		},
		MaxIdleConnsPerHost: 10,
		IdleConnTimeout:     time.Minute,
		TLSHandshakeTimeout: 10 * time.Second,
		TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		DisableCompression:  true, // it would unpack what a store says is packed
	}
	file := os.Getenv("AWS_CA_BUNDLE")
	if file == "" {
		return transport, nil
	}
	bundle, err := os.ReadFile(file) //nolint:gosec // the operator names it
	if err != nil {
		return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", err)
	}
	transport.TLSClientConfig.RootCAs = x509.NewCertPool()
	if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(bundle) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %s contains no PEM certificates", file)
	}
	return transport, nil
}

// impatientConn is a connection whose reads end after silentFor without a byte.
type impatientConn struct{ net.Conn }

// Read implements net.Conn.
func (c impatientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(silentFor)); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// rolesIn bounds a request for the credentials of a role.
const rolesIn = 10 * time.Second

// awsCredentials finds credentials where the AWS tools do: in variables, in files, and in the roles of web identities,
// containers and instances.
func awsCredentials() *credentials.Credentials {
	from := &sources{all: []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}}
	if os.Getenv("AWS_EC2_METADATA_DISABLED") != "true" || hasRole() {
		from.all = append(from.all, &credentials.IAM{Client: &http.Client{Timeout: rolesIn}})
	}
	return credentials.New(from)
}

// hasRole reports whether variables name a role that is not that of an instance.
func hasRole() bool {
	for _, name := range []string{
		"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI",
	} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

// sources is a credentials.Provider with the credentials of the first of several that has any. Unlike
// credentials.Chain, it doesn't go on without any, and says why there are none.
type sources struct {
	all     []credentials.Provider
	current credentials.Provider
}

// RetrieveWithCredContext implements credentials.Provider.
func (s *sources) RetrieveWithCredContext(cc *credentials.CredContext) (credentials.Value, error) {
	var reasons []error
	for _, source := range s.all {
		value, err := source.RetrieveWithCredContext(cc)
		if err == nil && value.AccessKeyID != "" && value.SecretAccessKey != "" {
			s.current = source
			return value, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			reasons = append(reasons, err)
		}
	}
	if len(reasons) == 0 {
		return credentials.Value{}, errNoCredentials
	}
	return credentials.Value{}, fmt.Errorf("%w: %w", errNoCredentials, errors.Join(reasons...))
}

// Retrieve implements credentials.Provider.
func (s *sources) Retrieve() (credentials.Value, error) { return s.RetrieveWithCredContext(nil) }

// IsExpired implements credentials.Provider.
func (s *sources) IsExpired() bool { return s.current == nil || s.current.IsExpired() }

var errNoCredentials = errors.New("no credentials were found")
