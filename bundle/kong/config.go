package kong

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"postern/bundle"
	"postern/bundle/jsonfile"
	"postern/core/contract"
	"postern/core/policy"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// The entities of gateway.yaml. Every value is written as JSON, which is YAML with quoted strings: Kong wouldn't read
// an unquoted yes or 12:30 as a string, and loads JSON several times faster.
type serviceDoc struct {
	ID             string      `json:"id"`
	Name           string      `json:"name"`
	Protocol       string      `json:"protocol"`
	Host           string      `json:"host"`
	Port           int         `json:"port"`
	Path           *string     `json:"path,omitempty"`
	ConnectTimeout int         `json:"connect_timeout"`
	ReadTimeout    int         `json:"read_timeout"`
	WriteTimeout   int         `json:"write_timeout"`
	Retries        int         `json:"retries"`
	TLSVerify      *bool       `json:"tls_verify,omitempty"`
	TLSVerifyDepth *int        `json:"tls_verify_depth,omitempty"`
	Authorities    *[]string   `json:"ca_certificates,omitempty"`    // ids
	Certificate    string      `json:"client_certificate,omitempty"` // id
	Routes         []routeDoc  `json:"routes"`
	Plugins        []pluginDoc `json:"plugins,omitempty"`
}

type routeDoc struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Protocols []string `json:"protocols"`
	Hosts     []string `json:"hosts,omitempty"`
	Methods   []string `json:"methods,omitempty"`

	Headers map[string][]string `json:"headers,omitempty"` // that calls must have

	Paths             []string `json:"paths"`
	RegexPriority     int      `json:"regex_priority"`
	StripPath         bool     `json:"strip_path"`
	PreserveHost      bool     `json:"preserve_host"`
	RequestBuffering  bool     `json:"request_buffering"`
	ResponseBuffering bool     `json:"response_buffering"`

	Plugins []pluginDoc `json:"plugins,omitempty"`
}

type consumerDoc struct {
	ID       string `json:"id"`
	Username string `json:"username"`
	CustomID string `json:"custom_id"`
}

type keyTypeDoc struct {
	Name   string          `json:"name"`
	Scopes []string        `json:"scopes"`
	Limits contract.Limits `json:"limits,omitempty"`
}

type ownerDoc struct {
	Owner    string `json:"owner"`
	Consumer string `json:"consumer"`
}

// entry is a key in the plugin's key table. It is written as one line, because Kong
// takes minutes instead of seconds to check and copy 100,000 records of several fields.
// The owner comes last and may contain blanks; no other value does. For example, in one
// line:
//
//	key_01 tenant=tnt_1 type=kty_1 env=prod until=7258118400.123 limits=hour:9,day:99
//	ips=192.0.2.0/24,::1/128 frozen consumer=222f6037-… owner=billing-service
type entry struct {
	id, tenant, keyType, environment, consumer, owner string

	kept               string    // fields of the identity that upstreams know from another gateway, and the metadata
	scopes             []string  // nil: the type's limits
	until              time.Time // zero: never expires
	limits             *snapshot.Limits
	ips                []netip.Prefix
	frozen, userFrozen bool
}

func (e entry) String() string {
	var b strings.Builder
	b.WriteString(e.id + " tenant=" + e.tenant)
	if e.keyType != "" {
		b.WriteString(" type=" + e.keyType)
	}
	if e.scopes != nil {
		b.WriteString(" scopes=" + strings.Join(e.scopes, ","))
	}
	if e.environment != "" {
		b.WriteString(" env=" + e.environment)
	}
	if !e.until.IsZero() {
		b.WriteString(" until=" + strconv.FormatFloat(seconds(e.until), 'f', -1, 64))
	}
	if e.limits != nil {
		b.WriteString(" limits=" + limitsLine(*e.limits))
	}
	if len(e.ips) > 0 {
		b.WriteString(" ips=" + strings.Join(texts(e.ips), ","))
	}
	if e.frozen {
		b.WriteString(" frozen")
	}
	if e.userFrozen {
		b.WriteString(" user_frozen")
	}
	b.WriteString(e.kept)
	b.WriteString(" consumer=" + e.consumer + " owner=" + e.owner)
	return b.String()
}

// seconds returns t in Unix time, to the millisecond like Kong's clock.
func seconds(t time.Time) float64 { return math.Max(float64(t.UnixMilli())/1000, 0) }

// configWriter streams gateway.yaml.
type configWriter struct {
	b   *bundle.Build
	out *jsonfile.Stream

	metadata bool // a version sends the metadata of keys
}

func writeConfig(ctx context.Context, b *bundle.Build, w io.Writer) error {
	c := &configWriter{b: b, out: jsonfile.NewStream(w), metadata: sendsMetadata(b.Project)}
	c.out.Raw("{\n  \"_format_version\": \"3.0\",\n  \"services\": ")
	if err := c.services(); err != nil {
		return err
	}
	c.unrouted()
	c.out.Raw(",\n  \"consumers\": ")
	if err := c.owners(ctx); err != nil {
		return err
	}
	c.certificates()
	c.authorities()
	if err := c.upstreams(); err != nil {
		return err
	}
	// One instance for all routes, because each instance has its own key table.
	c.out.Raw(",\n  \"plugins\": [{\n    \"name\": \"postern-auth\",\n    \"instance_name\": \"postern-auth\",\n    " +
		"\"config\": {\n      \"project\": ")
	c.out.Value(c.b.Project.ID)
	if c.b.Project.ImportedKeys {
		c.out.Raw(",\n      \"imported_keys\": true")
	}
	if len(c.b.Project.CallSigningKeys) > 0 {
		c.out.Raw(",\n      \"signing_key\": ")
		c.out.Value(signingVariable)
	}
	c.out.Raw(",\n      \"routes\": ")
	c.policies()
	if ids := unroutedIDs(c.b.Project); len(ids) > 0 {
		c.out.Raw(",\n      \"unrouted\": ")
		c.out.Value(ids)
	}
	if owner, ok := fallbackOwner(c.b.Project); ok {
		c.out.Raw(",\n      \"fallback\": ")
		c.out.Value(owner)
	}
	c.out.Raw(",\n      \"key_types\": ")
	c.keyTypes()
	c.out.Raw(",\n      \"tenants\": ")
	c.tenants()
	if limits := c.b.Project.Limits; !limits.None() {
		c.out.Raw(",\n      \"limits\": ")
		c.out.Value(limitsDocOf(limits))
	}
	c.rules()
	c.transforms()
	c.clients()
	c.endpoints()
	c.out.Raw(",\n      \"keys\": ")
	if err := c.keys(ctx); err != nil {
		return err
	}
	c.out.Raw("\n    }\n  }]\n}\n")
	return c.out.Close()
}

func (c *configWriter) services() error {
	c.out.Open("[")
	for _, pl := range layoutOf(c.b).places {
		up, err := parseTarget(pl.environment.Target)
		if err != nil {
			return fmt.Errorf("kong: environment %s: %w", pl.environment.ID, err)
		}
		c.out.Next("    ")
		doc := serviceOf(pl, up)
		doc.Authorities = trustedBy(c.b.Project, pl.environment)
		doc.Plugins = pluginsOf(c.b.Project, pl)
		c.out.Value(doc)
	}
	for _, pl := range layoutOf(c.b).places {
		if len(pl.grpc) == 0 {
			continue
		}
		up, err := parseTarget(pl.environment.Target)
		if err != nil {
			return fmt.Errorf("kong: environment %s: %w", pl.environment.ID, err)
		}
		c.out.Next("    ")
		doc := grpcService(pl, up)
		doc.Plugins = pluginsOf(c.b.Project, pl)
		c.out.Value(doc)
	}
	c.out.Raw("\n  ]")
	return nil
}

func serviceOf(pl place, up upstream) serviceDoc {
	timeouts := timeoutsOf(pl.environment)
	doc := serviceDoc{
		ID: pl.serviceID, Name: entityName("/" + pl.version.Name + "/" + pl.environment.Name),
		Protocol: up.protocol, Host: serviceHost(pl.environment, up), Port: up.port, Path: up.path,
		Retries:        *pl.environment.Upstream.Retries.Stated().Max,
		ConnectTimeout: timeouts.connect, ReadTimeout: timeouts.read, WriteTimeout: timeouts.write,
	}
	if up.protocol == "https" {
		verify, depth := true, 5 // without it Kong takes any certificate
		doc.TLSVerify, doc.TLSVerifyDepth = &verify, &depth
	}
	if pl.environment.Certificate != nil {
		doc.Certificate = certificateID(pl.environment)
	}
	for _, r := range pl.routes {
		one := routeDoc{
			ID: r.id, Name: r.name, Protocols: []string{"http", "https"}, Paths: r.paths(),
			RegexPriority: r.priority, StripPath: r.strip, Plugins: aclOf(pl.version),
		}
		if r.domain != nil {
			one.Hosts, one.Methods = []string{r.domain.Host}, r.domain.Methods
		}
		doc.Routes = append(doc.Routes, one)
	}
	return doc
}

func (c *configWriter) keyTypes() {
	c.out.Open("{")
	for _, t := range c.b.Project.KeyTypes {
		c.out.Next("        ")
		c.out.Value(t.ID)
		c.out.Raw(": ")
		scopes := t.Scopes
		if scopes == nil {
			scopes = []string{}
		}
		c.out.Value(keyTypeDoc{t.Name, scopes, t.Limits.Stated()})
	}
	c.out.Raw("\n      }")
}

// tenants writes the tenants that are served. Keys of others get 403.
func (c *configWriter) tenants() {
	c.out.Open("{")
	for _, t := range c.b.Project.Tenants {
		if t.Detached {
			continue
		}
		c.out.Next("        ")
		c.out.Value(t.ID)
		c.out.Raw(": ")
		doc := tenantDoc{Name: t.Name}
		if owner, ok := tenantFallback(c.b.Project, t); ok {
			doc.Fallback = &owner
		}
		c.out.Value(doc)
	}
	c.out.Raw("\n      }")
}

func (c *configWriter) keys(ctx context.Context) error {
	revoked := c.needsRevoked()
	c.out.Open("{")
	if c.b.HasKeys() {
		for k, err := range c.b.Keys(ctx, gatewayFile) {
			if err != nil {
				return err
			}
			if !needsEntry(k) {
				if revoked {
					c.revoked(k)
				}
				continue
			}
			if err := c.key(k); err != nil {
				return err
			}
		}
	}
	c.out.Raw("\n      }")
	return nil
}

// key writes an entry for each hash of k: its own, that of its new key, and the one
// before the last rotation.
func (c *configWriter) key(k *snapshot.Key) error {
	e := entry{
		id:          k.ID,
		tenant:      k.TenantID,
		environment: k.Environment,
		until:       k.ExpiresAt,
		limits:      k.Limits,
		ips:         k.AllowedIPs,
		frozen:      k.State == snapshot.KeyFrozen,
		userFrozen:  k.OwnerFrozen,
		consumer:    policy.ConsumerID(c.b.Project.ID, k.Owner),
		owner:       k.Owner,
		kept:        bundle.KeptIdentity(k, c.metadata),
	}
	keyType := typeOf(c.b.Project, k.KeyType)
	e.keyType = keyType.ID
	if !slices.Equal(k.Scopes, keyType.Scopes) {
		e.scopes = append([]string{}, k.Scopes...)
		for _, scope := range e.scopes {
			if !plainScope.MatchString(scope) {
				return fault.New(fault.Invalid, "key_not_exportable",
					"Key %s has a scope that doesn't follow Postern's naming rules.", k.ID)
			}
		}
	}
	c.entry(k.Hash, e)
	minted, err := c.b.MintedHash(k)
	if err != nil {
		return err
	}
	if minted != nil {
		c.entry(*minted, e)
	}
	if k.OldHash != nil {
		if e.until.IsZero() || k.GraceEndsAt.Before(e.until) {
			e.until = k.GraceEndsAt
		}
		if e.until.IsZero() { // no grace: already expired, because zero would mean that it never expires
			e.until = time.Unix(0, 0)
		}
		c.entry(*k.OldHash, e)
	}
	return nil
}

func (c *configWriter) needsRevoked() bool {
	return slices.ContainsFunc(c.b.Project.Versions, func(v snapshot.Version) bool {
		return bundle.NeedsRevoked(v.Access.RequestsAuth, c.b.Project.ImportedKeys)
	})
}

// revoked writes the entries of a revoked key.
func (c *configWriter) revoked(k *snapshot.Key) {
	hashes := [][32]byte{k.Hash}
	if k.OldHash != nil {
		hashes = append(hashes, *k.OldHash)
	}
	for _, hash := range hashes {
		c.out.Next("        ")
		c.out.Value(hex.EncodeToString(hash[:]))
		c.out.Raw(": ")
		c.out.Value(bundle.RevokedEntry)
	}
}

// plainScope matches the scopes that fit into an entry. The product's rule is stricter.
var plainScope = regexp.MustCompile(`^[!-+\--~]+$`)

func (c *configWriter) entry(hash [32]byte, e entry) {
	c.out.Next("        ")
	c.out.Value(hex.EncodeToString(hash[:]))
	c.out.Raw(": ")
	c.out.Value(e.String())
}

// needsEntry reports whether a key needs an entry by which it is valid, now or later. See bundle.NeedsRevoked for the
// others.
func needsEntry(k *snapshot.Key) bool {
	return k.State == snapshot.KeyActive || k.State == snapshot.KeyFrozen
}

// typeOf returns the key type of that name, or the zero value if the project doesn't have it.
func typeOf(p *snapshot.Project, name string) snapshot.KeyType {
	for _, t := range p.KeyTypes {
		if t.Name == name {
			return t
		}
	}
	return snapshot.KeyType{}
}
