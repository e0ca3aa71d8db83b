package projects

import (
	"context"
	"errors"
	"fmt"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/platform/fault"
	"postern/platform/secrets"
	"postern/service/access"
)

// UpstreamHeaderPlace returns the place that the value of an environment's header is
// sealed for.
func UpstreamHeaderPlace(environmentID, name string) secrets.Place {
	return secrets.Place{
		Table:   "upstream_headers",
		Row:     environmentID,
		Column:  name,
		Purpose: secrets.ForGateways,
	}
}

// UpstreamHeaders lists the headers of an environment by name.
func (s *Service) UpstreamHeaders(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath,
) (contract.List[contract.UpstreamHeader], error) {
	var out contract.List[contract.UpstreamHeader]
	tx := s.DB.Read(ctx)
	environment, err := environmentToRead(tx, p, in)
	if err != nil {
		return out, fmt.Errorf("projects: list the upstream headers of %s: %w", in.Environment, err)
	}
	rows, err := tx.UpstreamHeadersOf(environment.ID)
	if err != nil {
		return out, fmt.Errorf("projects: list the upstream headers of %s: %w", in.Environment, err)
	}
	for _, row := range rows {
		out.Items = append(out.Items, contract.UpstreamHeader{Name: row.Name, UpdatedAt: row.UpdatedAt.UTC()})
	}
	return out, nil
}

// environmentToRead finds an environment for a principal who may read its project.
func environmentToRead(
	tx *models.Tx, p access.Principal, in contract.EnvironmentPath,
) (models.Environment, error) {
	project, err := access.Project(tx, p, in.Project, access.ProjectRead)
	if err != nil {
		return models.Environment{}, err
	}
	environment, _, err := environmentOf(tx, project, in.Version, in.Environment)
	return environment, err
}

// UpstreamHeader finds a header of an environment by its name, ignoring case.
func (s *Service) UpstreamHeader(
	ctx context.Context, p access.Principal, in contract.UpstreamHeaderPath,
) (contract.UpstreamHeader, error) {
	all, err := s.UpstreamHeaders(ctx, p, in.EnvironmentPath)
	if err != nil {
		return contract.UpstreamHeader{}, err
	}
	for _, one := range all.Items {
		if strings.EqualFold(one.Name, in.Name) {
			return one, nil
		}
	}
	return contract.UpstreamHeader{}, fmt.Errorf("projects: upstream header %s: %w", in.Name, access.NotFound())
}

// SetUpstreamHeader sets a header of an environment, or replaces its value. From the next call on, the upstream gets
// it, and callers' headers with that name are removed.
func (s *Service) SetUpstreamHeader(
	ctx context.Context, p access.Principal, in contract.UpstreamHeaderUpdate,
) (contract.UpstreamHeader, error) {
	var out contract.UpstreamHeader
	name, value := textproto.CanonicalMIMEHeaderKey(in.Name), secrets.Given(in.Body.Value.Reveal())
	err := s.changeCredentials(ctx, p, in.EnvironmentPath, "upstream header "+name, func(c credentialChange) error {
		if err := fault.InvalidFields(checkUpstreamHeader(name, value)); err != nil {
			return err
		}
		have, err := c.tx.UpstreamHeadersOf(c.environment.ID)
		if err != nil {
			return err
		}
		known := slices.ContainsFunc(have, func(h models.UpstreamHeader) bool { return h.Name == name })
		if !known && len(have) >= policy.MaxUpstreamHeaders {
			return fault.New(fault.Conflict, "too_many_headers", "An environment can have at most %d upstream "+
				"headers. Remove one first.", policy.MaxUpstreamHeaders)
		}
		sealed, err := s.Vault.Seal(c.tx, c.project.TeamID, UpstreamHeaderPlace(c.environment.ID, name), value)
		if err != nil {
			return err
		}
		out = contract.UpstreamHeader{Name: name, UpdatedAt: c.now.UTC()}
		return c.tx.SetUpstreamHeader(models.UpstreamHeader{
			EnvironmentID: c.environment.ID,
			Name:          name,
			Value:         sealed,
			CreatedAt:     c.now,
			UpdatedAt:     c.now,
		})
	})
	return out, err
}

// RemoveUpstreamHeader removes a header of an environment. Callers' headers of that name reach the upstream again.
func (s *Service) RemoveUpstreamHeader(
	ctx context.Context, p access.Principal, in contract.UpstreamHeaderPath,
) (contract.None, error) {
	name := textproto.CanonicalMIMEHeaderKey(in.Name)
	what := "no upstream header " + name
	return contract.None{}, s.changeCredentials(ctx, p, in.EnvironmentPath, what, func(c credentialChange) error {
		removed, err := c.tx.DeleteUpstreamHeader(c.environment.ID, name)
		if err == nil && !removed {
			err = access.NotFound()
		}
		return err
	})
}

// credentialChange is the transaction that changes an environment's upstream credentials.
type credentialChange struct {
	tx          *models.Tx
	project     models.Project
	environment models.Environment
	now         time.Time
}

// changeCredentials changes the upstream credentials of an environment in one transaction:
// it checks permission, calls fn, and writes the audit entry and the revision. what names the
// change in the audit entry, before the environment.
func (s *Service) changeCredentials(
	ctx context.Context, p access.Principal, in contract.EnvironmentPath, what string, fn func(credentialChange) error,
) error {
	err := s.DB.Write(ctx, func(tx *models.Tx) error {
		project, err := access.Project(tx, p, in.Project, access.ProjectUpdate)
		if err != nil {
			return err
		}
		if err := tx.LockProject(project.ID); err != nil {
			return err
		}
		environment, _, err := environmentOf(tx, project, in.Version, in.Environment)
		if err != nil {
			return err
		}
		before, err := viewCredentials(tx, environment.ID)
		if err != nil {
			return err
		}
		now := models.Now()
		if err := fn(credentialChange{tx, project, environment, now}); err != nil {
			return err
		}
		after, err := viewCredentials(tx, environment.ID)
		if err != nil {
			return err
		}
		err = access.Record(tx, p, access.Entry{
			Action: access.ProjectUpdate,
			Object: project.ID,
			Team:   project.TeamID,
			Detail: map[string]string{"change": what + " of " + environment.ID, "name": project.Name},
			Before: before,
			After:  after,
		})
		if err != nil {
			return err
		}
		return tx.AddRevision(project.ID, "", now)
	})
	if err != nil {
		return fmt.Errorf("projects: change %s of %s: %w", what, in.Environment, err)
	}
	s.Changed(ctx)
	return nil
}

// credentials are the upstream credentials of an environment as the audit log shows them.
type credentials struct {
	UpstreamHeaders   map[string]string // by name, when the value was set
	ClientCertificate string            `json:",omitempty"` // its SHA-256 fingerprint
}

func viewCredentials(tx *models.Tx, environmentID string) (credentials, error) {
	out := credentials{UpstreamHeaders: map[string]string{}}
	headers, err := tx.UpstreamHeadersOf(environmentID)
	for _, h := range headers {
		out.UpstreamHeaders[h.Name] = "set " + h.UpdatedAt.UTC().Format(time.RFC3339Nano)
	}
	if err != nil {
		return out, err
	}
	certificate, found, err := tx.UpstreamCertificateOf(environmentID)
	if err == nil && found {
		var shown contract.ClientCertificate
		shown, err = shownClientCertificate(certificate)
		out.ClientCertificate = shown.SHA256
	}
	return out, err
}

func checkUpstreamHeader(name string, value secrets.Secret) []fault.Field {
	var wrong []fault.Field
	if !policy.CanSetForUpstream(name) {
		wrong = append(wrong, fault.Field{
			Pointer: "/name",
			Code:    "reserved_header",
			Detail: fmt.Sprintf("Use a name such as X-Upstream-Token or Authorization, of at most %d letters, digits "+
				"or hyphens. You can't use connection headers (Host, Upgrade), body headers (Content-…), cookies, or "+
				"headers that the gateway sets (X-Consumer-…, X-Tenant-…, X-Project-…, X-Forwarded-…, "+
				"Signature).", policy.MaxUpstreamHeaderName),
		})
	}
	if !policy.IsUpstreamHeaderValue(value.Reveal()) {
		wrong = append(wrong, fault.Field{
			Pointer: "/value",
			Code:    "invalid_header_value",
			Detail: fmt.Sprintf("Use 1 to %s printable ASCII characters. Don't begin or end with a space.",
				humanize.Comma(policy.MaxUpstreamHeaderValue)),
		})
	}
	return wrong
}

// keepsCredentials refuses new targets of other origins for an environment that has
// upstream credentials: a member could read header values there that they do not have, and
// would have the gateway prove the certificate's identity to a server of their choice.
func keepsCredentials(tx *models.Tx, environment models.Environment, to place) error {
	if to.target == "" || haveOrigins(environment, to.urls()) {
		return nil
	}
	_, certificate, err := tx.UpstreamCertificateOf(environment.ID)
	if err != nil {
		return err
	}
	if certificate {
		return fault.InvalidField("/target", "has_upstream_credentials", "The environment has a client certificate. "+
			"Remove the certificate, change the target, and then set the certificate again.")
	}
	headers, err := tx.UpstreamHeadersOf(environment.ID)
	if err != nil || len(headers) == 0 {
		return err
	}
	return fault.InvalidField("/target", "has_upstream_credentials", "The environment's upstream headers would be "+
		"sent to another host. Remove the headers, change the target, and then set the headers again.")
}

// haveOrigins reports whether each URL has the origin of a target of the environment.
func haveOrigins(environment models.Environment, urls []string) bool {
	return !slices.ContainsFunc(urls, func(u string) bool {
		return !slices.ContainsFunc(environment.Upstream.TargetsOr(environment.Target),
			func(one contract.UpstreamTarget) bool { return sameOrigin(one.URL, u) })
	})
}

func sameOrigin(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && x.Scheme == y.Scheme && x.Host == y.Host
}

// Unsealer decrypts the sealed values of snapshots for the gateway. It needs no database, because snapshots contain the
// wrapped data keys of their values.
type Unsealer struct{ Vault *secrets.Vault }

// HeaderValue decrypts the value of an environment's header.
func (u Unsealer) HeaderValue(p *snapshot.Project, environmentID string, h snapshot.UpstreamHeader) (string, error) {
	value, err := u.Vault.Open(dataKeys(p.DataKeys), UpstreamHeaderPlace(environmentID, h.Name), h.Sealed)
	return value.Reveal(), err
}

// dataKeys is a secrets.Store of the data keys of one snapshot. It can only be read.
type dataKeys []snapshot.DataKey

var errReadOnly = errors.New("the data keys of a snapshot cannot be changed")

func (k dataKeys) DataKeyOfTeam(string, secrets.Purpose) (secrets.DataKey, bool, error) {
	return secrets.DataKey{}, false, errReadOnly
}

func (k dataKeys) DataKeyByID(id string) (secrets.DataKey, error) {
	for _, key := range k {
		if key.ID == id {
			return secrets.DataKey{ID: key.ID, Wrapped: key.Wrapped, GatewayWrapped: key.GatewayWrapped}, nil
		}
	}
	return secrets.DataKey{}, fmt.Errorf("data key %s is not in the snapshot", id)
}

func (k dataKeys) AddDataKey(
	string, secrets.Purpose, func(secrets.DataKey) (secrets.DataKey, error),
) (secrets.DataKey, error) {
	return secrets.DataKey{}, errReadOnly
}
