package models

import (
	"time"

	"gorm.io/gorm/clause"

	"postern/migrations"
	"postern/platform/secrets"
)

// AppClient is a row of app_clients: an OAuth client of a tenant, and the OpenID
// Connect issuer that serves it.
type AppClient struct {
	ID                   string `gorm:"primaryKey"`
	TenantID             string
	Name                 string
	RedirectURIs         []string   `gorm:"serializer:json"`
	LogoutURIs           []string   `gorm:"serializer:json"`
	BackchannelLogoutURI string     // where the client is notified that a session has ended, or ""
	APIScopes            Texts      // that it may request
	GrantTypes           Texts      // how it gets tokens
	FrozenAt             *time.Time // nil: not frozen
	SecretHash           Digest     // nil for a public client
	PKCE                 string     // required, or when_sent for a client with a secret
	AccessTokenSeconds   int64
	RefreshTokenSeconds  int64 // 0: no refresh tokens
	Algorithm            string
	Title                string
	Welcome              string
	LogoURL              string
	Color                string
	CreatedAt            time.Time
	UpdatedAt            time.Time
}

// Provider is a row of providers: an identity provider that an app client offers.
type Provider struct {
	ID                   string `gorm:"primaryKey"`
	AppClientID          string
	Type                 string
	Managed              bool
	ClientID             string // of the app registered with the provider
	ClientSecret         secrets.Sealed
	Issuer               string
	Scopes               []string `gorm:"serializer:json"`
	ClientToken          string
	UpstreamToken        string
	Label                string   // on its button, "" for the type's name
	Audience             string   // the API that its access tokens are for, "" for none
	ResponseMode         string   // query or form_post, "" for types that take none
	AuthoritativeDomains []string `gorm:"serializer:json"` // of addresses
	SignInDomains        []string `gorm:"serializer:json"` // of addresses that lead to it
	Endpoints            string   // JSON of a snapshot.ProviderEndpoints, "" until its discovery document was read
	Enabled              bool
	CreatedAt            time.Time
	UpdatedAt            time.Time
}

// SecretPlace returns the place that the provider's secret is sealed for. If clients get the provider's tokens,
// gateways need the secret to verify these with the provider.
func (p Provider) SecretPlace() secrets.Place {
	place := secrets.Place{Table: "providers", Row: p.ID, Column: "client_secret", Purpose: secrets.ForControl}
	if p.ClientToken == providerTokens {
		place.Purpose = secrets.ForGateways
	}
	return place
}

// providerTokens is the ClientToken of providers whose own tokens clients get.
const providerTokens = "provider"

// SigningKey is a row of signing_keys. It signs from ActiveAt on and verifies from
// CreatedAt to ExpiresAt.
type SigningKey struct {
	ID         string `gorm:"primaryKey"` // kid
	ClientID   string
	Algorithm  string
	PrivateKey secrets.Sealed
	PublicJWK  string
	ActiveAt   time.Time
	ExpiresAt  *time.Time // nil until a newer one follows
	CreatedAt  time.Time
}

// AppClientByID finds an app client.
func (t *Tx) AppClientByID(id string) (AppClient, error) {
	var c AppClient
	return c, t.db.Where("id = ?", id).Take(&c).Error
}

// LockAppClient finds an app client and locks it until the transaction ends. On SQLite, write transactions exclude each
// other anyway.
func (t *Tx) LockAppClient(id string) (AppClient, error) {
	q := t.db
	if t.dialect == migrations.Postgres {
		q = q.Clauses(clause.Locking{Strength: clause.LockingStrengthUpdate})
	}
	var c AppClient
	return c, q.Where("id = ?", id).Take(&c).Error
}

// AppClientsOf lists a tenant's app clients by name.
func (t *Tx) AppClientsOf(tenantID string) ([]AppClient, error) {
	var list []AppClient
	return list, t.db.Where("tenant_id = ?", tenantID).Order("name").Find(&list).Error
}

// AppClientsOfProject lists the app clients of the tenants that a project serves,
// oldest first.
func (t *Tx) AppClientsOfProject(projectID string, page Page) (List[AppClient], error) {
	// PostgreSQL could read the app clients of all teams in the order of the list, until it had found a page of these.
	const gathered = "(WITH served AS MATERIALIZED (?) SELECT * FROM served) AS app_clients"
	q := t.db.Table(gathered, t.db.Model(&AppClient{}).Where("tenant_id IN (?)", t.served(projectID)))
	page = t.searching(page, "name", "title")
	id := func(row AppClient) string { return row.ID }
	if page.Sort == (Sort{}) {
		return ascending(q, page, "id", id)
	}
	return sorted(q, page, t.appClientOrders(), "id", id)
}

// AppClientsListed lists a tenant's app clients by name.
func (t *Tx) AppClientsListed(tenantID string, page Page) (List[AppClient], error) {
	q := t.db.Where("tenant_id = ?", tenantID)
	page = t.searching(page, "name", "title")
	if page.Sort == (Sort{}) {
		page.Sort = Sort{By: "name"}
	}
	return sorted(q, page, t.appClientOrders(), "id", func(row AppClient) string { return row.ID })
}

func (t *Tx) appClientOrders() orders[AppClient] {
	return orders[AppClient]{
		"created": byID("id", func(row AppClient) string { return row.ID }),
		"name":    byText(t, "name", func(row AppClient) string { return row.Name }),
	}
}

// UpdateAppClient writes the changeable columns if the row still has the UpdatedAt
// that the caller saw. It returns false if another change came first.
func (t *Tx) UpdateAppClient(c AppClient, seen time.Time) (bool, error) {
	res := t.db.Model(&AppClient{}).Where("id = ? AND updated_at = ?", c.ID, seen).
		Select("Name", "RedirectURIs", "LogoutURIs", "BackchannelLogoutURI", "APIScopes", "GrantTypes", "SecretHash",
			"PKCE", "AccessTokenSeconds", "RefreshTokenSeconds", "Algorithm", "Title", "Welcome", "LogoURL", "Color",
			"UpdatedAt").
		UpdateColumns(&c)
	return res.RowsAffected == 1, res.Error
}

// FreezeAppClient sets the time since which an app client is frozen, or nil.
func (t *Tx) FreezeAppClient(c AppClient) error {
	return t.db.Model(&AppClient{}).Where("id = ?", c.ID).Select("FrozenAt", "UpdatedAt").UpdateColumns(&c).Error
}

// DeleteAppClient removes an app client with its providers, keys and logins. The
// end users stay: they belong to the tenant.
func (t *Tx) DeleteAppClient(id string) error {
	sessions := t.db.Model(&LoginSession{}).Select("id").Where("client_id = ?", id)
	if err := t.db.Where("session_id IN (?)", sessions).Delete(&LoginGrant{}).Error; err != nil {
		return err
	}
	for _, row := range []any{&LogoutNotice{}, &LoginSession{}, &LoginConsent{}, &LoginAttempt{}, &SigningKey{}} {
		if err := t.db.Where("client_id = ?", id).Delete(row).Error; err != nil {
			return err
		}
	}
	if err := t.db.Where("app_client_id = ?", id).Delete(&Provider{}).Error; err != nil {
		return err
	}
	return t.db.Where("id = ?", id).Delete(&AppClient{}).Error
}

// ProviderByID finds a provider.
func (t *Tx) ProviderByID(id string) (Provider, error) {
	var p Provider
	return p, t.db.Where("id = ?", id).Take(&p).Error
}

// ProvidersOf lists an app client's providers in the order in which they were created.
func (t *Tx) ProvidersOf(clientID string) ([]Provider, error) {
	var list []Provider
	return list, t.db.Where("app_client_id = ?", clientID).Order("created_at, id").Find(&list).Error
}

// ProvidersOfAll lists the providers of the given app clients, each client's in the order in which they were created.
func (t *Tx) ProvidersOfAll(clientIDs []string) ([]Provider, error) {
	var list []Provider
	return list, t.db.Where("app_client_id IN ?", clientIDs).Order("app_client_id, created_at, id").Find(&list).Error
}

// UpdateProvider writes the changeable columns if the row still has the UpdatedAt
// that the caller saw. It returns false if another change came first.
func (t *Tx) UpdateProvider(p Provider, seen time.Time) (bool, error) {
	res := t.db.
		Model(&Provider{}).
		Where("id = ? AND updated_at = ?", p.ID, seen).
		Select(
			"ClientID", "ClientSecret", "Scopes", "ClientToken", "UpstreamToken", "Audience", "AuthoritativeDomains",
			"SignInDomains", "Label", "ResponseMode", "Enabled", "UpdatedAt",
		).
		UpdateColumns(&p)
	return res.RowsAffected == 1, res.Error
}

// SetProviderEndpoints writes the endpoints in the issuer's discovery document, if the provider still has that issuer.
func (t *Tx) SetProviderEndpoints(id, issuer, endpoints string) error {
	return t.db.Model(&Provider{}).Where("id = ? AND issuer = ?", id, issuer).UpdateColumn("endpoints", endpoints).Error
}

// DeleteProvider removes a provider.
func (t *Tx) DeleteProvider(id string) error {
	return t.db.Where("id = ?", id).Delete(&Provider{}).Error
}

// SigningKeysOf lists an app client's keys that verify at now, oldest first.
func (t *Tx) SigningKeysOf(clientID string, now time.Time) ([]SigningKey, error) {
	var list []SigningKey
	return list, t.db.
		Where("client_id = ? AND (expires_at IS NULL OR expires_at > ?)", clientID, now).
		Order("active_at, id").
		Find(&list).Error
}

// ExpireSigningKeys sets the expiry of an app client's signing keys that have none, except for the key with the ID
// except.
func (t *Tx) ExpireSigningKeys(clientID, except string, at time.Time) error {
	return t.db.
		Model(&SigningKey{}).
		Where("client_id = ? AND id <> ? AND expires_at IS NULL", clientID, except).
		UpdateColumn("expires_at", at).Error
}

// ClientsToRekey lists the IDs of at most limit app clients whose newest key was created before the given time.
func (t *Tx) ClientsToRekey(before time.Time, limit int) ([]string, error) {
	var ids []string
	return ids, t.db.
		Model(&SigningKey{}).
		Group("client_id").
		Having("max(created_at) < ?", before).
		Order("client_id").
		Limit(limit).
		Pluck("client_id", &ids).Error
}

// DeleteExpiredSigningKeys removes keys that no longer verify tokens.
func (t *Tx) DeleteExpiredSigningKeys(now time.Time) error {
	return t.db.Where("expires_at <= ?", now).Delete(&SigningKey{}).Error
}
