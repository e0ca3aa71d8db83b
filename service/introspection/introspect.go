package introspection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/models"
	"postern/service/login/tokencheck"
	"postern/service/projects"
)

// askEndpoint asks the introspection endpoint of a version. Endpoint and secret are read
// together from the database: a gateway's snapshot may be a moment behind, and would send
// a new secret to the old endpoint.
func (a *Introspector) askEndpoint(
	ctx context.Context, versionID, token string, now time.Time, out *policy.Token,
) error {
	at, row, err := a.endpoint(ctx, versionID)
	if err != nil {
		return err
	}
	got, err := tokencheck.Introspect(ctx, a.Client, at, token, now)
	if err != nil {
		return err
	}
	*out, err = accepted(got, at.URL, row)
	return err
}

// accepted returns what an active token allows, or why the version does not accept it.
func accepted(got tokencheck.Introspection, endpoint string, row contract.Introspection) (policy.Token, error) {
	switch {
	case row.Issuer != "" && got.Issuer != row.Issuer:
		return policy.Token{}, fmt.Errorf("it has a different issuer: %w", tokencheck.ErrRefused)
	case row.Audience != "" && !slices.Contains(got.Audience, row.Audience):
		return policy.Token{}, fmt.Errorf("it is for a different audience: %w", tokencheck.ErrRefused)
	case !policy.IsSubject(got.Subject):
		return policy.Token{}, fmt.Errorf("its sub is not a valid header value: %w", tokencheck.ErrRefused)
	}
	scopes, ok := policy.ReadScopes(got.Scope)
	if !ok {
		return policy.Token{}, fmt.Errorf("its scopes are not valid header values: %w", tokencheck.ErrRefused)
	}
	return policy.Token{
		Issuer:  cmp.Or(got.Issuer, endpoint),
		Subject: got.Subject,
		Scopes:  scopes,
		Expires: got.Expires,
	}, nil
}

var errNoEndpoint = fmt.Errorf("the version no longer has an introspection endpoint: %w", tokencheck.ErrRefused)

func (a *Introspector) endpoint(
	ctx context.Context, versionID string,
) (tokencheck.Endpoint, contract.Introspection, error) {
	tx := a.DB.Read(ctx)
	version, err := tx.VersionByID(versionID)
	if errors.Is(err, models.ErrNotFound) {
		return tokencheck.Endpoint{}, contract.Introspection{}, errNoEndpoint
	}
	if err != nil {
		err = fmt.Errorf("introspection: read the version %s: %w", versionID, err)
		return tokencheck.Endpoint{}, contract.Introspection{}, err
	}
	row := version.RequestsAuth.Introspection().Introspection
	if row.Endpoint == "" {
		return tokencheck.Endpoint{}, row, errNoEndpoint
	}
	at := tokencheck.Endpoint{
		URL:      row.Endpoint,
		ClientID: row.ClientID,
		InForm:   row.Method == snapshot.SecretPost,
	}
	if version.IntrospectionSecret != nil {
		at.ClientSecret, err = a.Vault.Open(tx, projects.IntrospectionPlace(versionID), version.IntrospectionSecret)
	}
	return at, row, err
}
