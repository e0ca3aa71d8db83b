package appclients

import (
	"context"
	"errors"
	"fmt"

	"postern/core/contract"
	"postern/models"
	"postern/platform/fault"
	"postern/service/access"
)

// setupName is the name of the app client that is created with a project.
const setupName = "web"

// Setup is hosted login that is created together with its project: an app client of the
// project's own tenant, and its providers. A Setup is used once.
type Setup struct {
	Service      *Service
	RedirectURIs []string
	Providers    []contract.NewProvider

	Client  contract.AppClient  // set by InsertIn, as is the next
	Offered []contract.Provider // in the order of Providers
}

// Check returns the invalid fields, with pointers below prefix. It resolves host names,
// so it must be called outside of transactions. unclaimed restricts issuers to web ports;
// verified states whether the gateway verifies tokens, without which it cannot replace
// them for the upstream.
func (u *Setup) Check(ctx context.Context, prefix string, unclaimed, verified bool) ([]fault.Field, error) {
	var row models.AppClient
	_, wrong := applyNewClient(&row, u.client())
	wrong = below(prefix, wrong)
	if len(u.Providers) == 0 {
		wrong = append(wrong, fault.Field{
			Pointer: prefix + "/providers",
			Code:    "required",
			Detail:  `Use at least one provider, such as {"type": "google", "client_id": "…"}.`,
		})
	}
	if len(u.Providers) > maxProviders {
		return append(wrong, fault.Field{
			Pointer: prefix + "/providers",
			Code:    "too_many",
			Detail:  fmt.Sprintf("Use at most %d providers.", maxProviders),
		}), nil
	}
	for i, in := range u.Providers {
		checked, err := u.Service.checkOffer(ctx, in, unclaimed, verified)
		fields, err := fieldsOf(err)
		if err != nil {
			return nil, err
		}
		u.Providers[i] = checked
		wrong = append(wrong, below(fmt.Sprintf("%s/providers/%d", prefix, i), fields)...)
	}
	if len(wrong) > 0 {
		return wrong, nil
	}
	fields, err := u.apart()
	return below(prefix, fields), err
}

// apart returns a field error for the first provider whose tokens cannot be distinguished
// from those of a provider before it.
func (u *Setup) apart() ([]fault.Field, error) {
	var all []offered
	for i, in := range u.Providers {
		row := models.Provider{Type: in.Type, Managed: in.Managed, Issuer: in.Issuer, Enabled: true}
		if err := u.Service.fill(&row, in.ProviderSettings); err != nil {
			return nil, err
		}
		all = append(all, offered{row, ""})
		if a, b, found := u.Service.twoOf(all, ""); found {
			return []fault.Field{{
				Pointer: fmt.Sprintf("/providers/%d/token_type/client", i),
				Code:    "token_type_ambiguous",
				Detail:  ambiguity(b, a),
			}}, nil
		}
	}
	return nil, nil
}

func (u *Setup) client() contract.NewAppClient {
	uris := u.RedirectURIs
	if uris == nil {
		uris = []string{}
	}
	return contract.NewAppClient{
		Name: setupName, AppClientSettings: contract.AppClientSettings{RedirectURIs: &uris},
	}
}

// checkOffer checks as much of a provider as can be checked without its app client.
func (s *Service) checkOffer(
	ctx context.Context, in contract.NewProvider, unclaimed, verified bool,
) (contract.NewProvider, error) {
	out, err := s.checkAddress(ctx, in)
	if err != nil {
		return out, err
	}
	if unclaimed {
		if err := checkWebPort(out.Issuer); err != nil {
			return out, err
		}
	}
	row := models.Provider{Type: out.Type, Managed: out.Managed, Issuer: out.Issuer, Enabled: true}
	if err := s.fill(&row, out.ProviderSettings); err != nil {
		return out, err
	}
	if !verified && needsGateway(TokenTypeOf(row)) {
		return out, fault.InvalidField(
			"/token_type/upstream", "method_missing",
			"The gateway can replace only tokens that it verifies. Add jwt to requests_auth.methods, or leave "+
				"upstream out.",
		)
	}
	return out, nil
}

// InsertIn inserts app client and providers in the transaction that inserts the project
// and its tenant. The principal of a new workspace is anonymous: it has no roles yet.
func (u *Setup) InsertIn(tx *models.Tx, p access.Principal, team string, tenant models.Tenant) error {
	if !p.Anonymous() {
		if err := access.Check(p, team, access.LoginUpdate); err != nil {
			return err
		}
	}
	client, _, err := u.Service.NewClientIn(tx, tenant, u.client())
	if err != nil {
		return err
	}
	u.Client, u.Offered = u.Service.Shown(client), nil
	if err := access.Record(tx, p, access.Entry{
		Action: access.LoginUpdate,
		Object: client.ID,
		Name:   client.Name,
		Team:   team,
		After:  u.Client,
	}); err != nil {
		return err
	}
	for _, in := range u.Providers {
		made, err := u.Service.NewProviderIn(tx, client, team, in)
		if err != nil {
			return err
		}
		entry := providerEntry(client, team, made)
		entry.After = made
		if err := access.Record(tx, p, entry); err != nil {
			return err
		}
		u.Offered = append(u.Offered, made)
	}
	return nil
}

// Callbacks returns the redirect URI of each provider by its type; the second of a type
// is type_2.
func (u *Setup) Callbacks() map[string]string {
	out, seen := map[string]string{}, map[string]int{}
	for _, p := range u.Offered {
		name := p.Type
		if seen[p.Type]++; seen[p.Type] > 1 {
			name = fmt.Sprintf("%s_%d", p.Type, seen[p.Type])
		}
		out[name] = p.CallbackURL
	}
	return out
}

// fieldsOf returns the fields of a refusal, or any other error as it is.
func fieldsOf(err error) ([]fault.Field, error) {
	if refusal, ok := errors.AsType[*fault.Error](err); ok && refusal.Kind == fault.Invalid {
		return refusal.Fields, nil
	}
	return nil, err
}

// below puts a prefix before the fields' pointers.
func below(prefix string, fields []fault.Field) []fault.Field {
	for i := range fields {
		fields[i].Pointer = prefix + fields[i].Pointer
	}
	return fields
}
