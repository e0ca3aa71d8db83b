package bundle

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"time"

	"postern/core/contract"
	"postern/core/snapshot"
)

// rebuild returns the build that the documents of an archive describe, from which Write
// would generate the rest of the archive. Only the ledger says that a project is in the trash.
func (v *verifier) rebuild(m Manifest, config projectDoc, target Target, deleted bool) (*Build, error) {
	project, err := config.project()
	if err != nil {
		return nil, problem(configFile, "%s", err)
	}
	project.Deleted = deleted
	if err := v.readLogin(project); err != nil {
		return nil, err
	}
	if err := v.readPeople(project); err != nil {
		return nil, err
	}
	if err := v.readRules(project); err != nil {
		return nil, err
	}
	if err := v.readTransforms(project); err != nil {
		return nil, err
	}
	if err := v.readDocuments(project, config); err != nil {
		return nil, err
	}
	secret, err := v.readSecrets()
	if err != nil {
		return nil, err
	}
	var relations func(context.Context) iter.Seq2[snapshot.Relation, error]
	if _, have := v.files[RelationsFile]; have {
		relations = v.readRelations
	}
	b, err := newBuild(Input{
		Secret:    secret,
		Relations: relations,
		Project:   project,
		Target:    target,
		Options:   Options(m.Options),
		Generator: m.Generator,
		KeyCount:  m.Counts.Keys,
		Users:     v.usersOf,
		AddressOf: config.addressOf,
	})
	if err != nil {
		return nil, problem(configFile, "%s", err)
	}
	b.seed = nil
	rows := &rowReader{v: v}
	b.source, b.minted = rows.of, rows.mintedOf
	return b, nil
}

// rowReader parses keys.jsonl.
type rowReader struct {
	v      *verifier
	id     string    // of the last key
	minted *[32]byte // hash of its new key
}

func (r *rowReader) mintedOf(k *snapshot.Key) (*[32]byte, error) {
	if k.ID != r.id {
		return nil, fmt.Errorf("bundle: the new key of %s was requested after the next row was read", k.ID)
	}
	return r.minted, nil
}

var errEnough = errors.New("the consumer stopped the iteration")

func (r *rowReader) of(_ context.Context, tenant snapshot.Tenant) iter.Seq2[snapshot.Key, error] {
	name := KeysFile(tenant)
	return func(yield func(snapshot.Key, error) bool) {
		if _, have := r.v.files[name]; !have {
			return // keys were left out
		}
		err := r.v.lines(name, func(n int, line []byte) error {
			var row keyDoc
			err := json.Unmarshal(line, &row) // readKeysFile has parsed it strictly
			if err != nil {
				return problem(name, "line %d doesn't have the expected format: %s", n+1, err)
			}
			key, minted, err := row.key()
			if err != nil {
				return problem(name, "line %d: %s", n+1, err)
			}
			r.id, r.minted = key.ID, minted
			if !yield(key, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(snapshot.Key{}, err)
		}
	}
}

// key returns the key of a row and the hash of its new key.
func (d keyDoc) key() (snapshot.Key, *[32]byte, error) {
	in := reading{}
	k := snapshot.Key{
		ID:          d.ID,
		ProjectID:   d.ProjectID,
		Owner:       d.Owner,
		KeyType:     d.KeyType,
		Scopes:      d.Scopes,
		TenantID:    d.TenantID,
		Tenant:      d.Tenant,
		ProductID:   valueOf(d.ProductID),
		Environment: valueOf(d.Environment),
		State:       snapshot.KeyState(d.State),
		OwnerFrozen: d.OwnerFrozen,
		AllowedIPs:  in.ranges(d.AllowedCIDRs),
		OldHash:     in.hash(d.PreviousSHA256),
		GraceEndsAt: timeOrZero(d.GraceEndsAt),
		ExpiresAt:   timeOrZero(d.ExpiresAt),
		KeyDetails:  d.KeyDetails,
		KeyIdentity: d.KeyIdentity,
	}
	if hash := in.hash(&d.SHA256); hash != nil {
		k.Hash = *hash
	}
	if d.Limits != nil {
		k.Limits = new(in.limits(*d.Limits))
	}
	return k, in.hash(d.MintedSHA256), in.err
}

// reading keeps the first error of parsing fields.
type reading struct{ err error }

func (r *reading) moment(text *string) time.Time {
	if text == nil {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339Nano, *text)
	if err != nil && r.err == nil {
		r.err = fmt.Errorf("%q isn't a time", *text)
	}
	return t
}

func (r *reading) hash(text *string) *[32]byte {
	if text == nil {
		return nil
	}
	raw, err := hex.DecodeString(*text)
	if err != nil || len(raw) != 32 {
		if r.err == nil {
			r.err = fmt.Errorf("%q isn't a SHA-256", *text)
		}
		return nil
	}
	return (*[32]byte)(raw)
}

// limits refuses limits that Write never writes.
func (r *reading) limits(stated contract.Limits) (out snapshot.Limits) {
	for name, calls := range stated {
		w, known := snapshot.ParseWindow(name)
		if known && calls > 0 {
			out[w] = calls
		} else if r.err == nil {
			r.err = fmt.Errorf("%q: %d isn't a valid limit", name, calls)
		}
	}
	return out
}

func (r *reading) ranges(texts []string) (out []netip.Prefix) {
	for _, text := range texts {
		one, err := netip.ParsePrefix(text)
		if err != nil && r.err == nil {
			r.err = fmt.Errorf("%q isn't an address range", text)
		}
		out = append(out, one)
	}
	return out
}

func timeOrZero(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

// project returns the project that project-config.json describes.
func (d projectDoc) project() (*snapshot.Project, error) {
	in := reading{}
	p := &snapshot.Project{
		ID: d.ID, Name: d.Name, DisplayName: d.DisplayName, FallbackOwner: valueOf(d.FallbackOwner),
		ImportedKeys: d.ImportedKeys,
		CreatedAt:    in.moment(&d.CreatedAt), ExpiresAt: in.moment(d.ExpiresAt),
		Revision: d.Revision, RevisedAt: in.moment(&d.RevisedAt),
		Limits: snapshot.ProjectLimits{
			Key:     in.limits(d.Limits.Key),
			Owner:   in.limits(d.Limits.Owner),
			IP:      in.limits(d.Limits.IP),
			Project: in.limits(d.Limits.Project),
		},
	}
	p.CORS = d.CORS
	if d.API != nil {
		p.API = *d.API
	}
	p.CallSigningKeys = d.CallSigning.keys(&in)
	if d.Product != nil {
		p.ProductID, p.Product, p.ProductTitle = d.Product.ID, d.Product.Name, d.Product.DisplayName
	}
	for _, t := range d.KeyTypes {
		p.KeyTypes = append(p.KeyTypes, snapshot.KeyType{
			ID: t.ID, Name: t.Name, Scopes: t.Scopes, Limits: in.limits(t.Limits), BuiltIn: t.BuiltIn,
			ExpiresIn: time.Duration(t.ExpiresIn) * time.Second,
		})
	}
	for _, t := range d.Tenants {
		p.Tenants = append(p.Tenants, snapshot.Tenant{
			ID:            t.ID,
			Name:          t.Name,
			DisplayName:   t.DisplayName,
			FallbackOwner: valueOf(t.FallbackOwner),
			Detached:      t.Detached,
			CORS:          t.CORS,
		})
	}
	for _, w := range d.Webhooks {
		p.Webhooks = append(p.Webhooks, snapshot.Webhook(w))
	}
	for _, v := range d.Versions {
		p.Versions = append(p.Versions, v.version())
	}
	return p, in.err
}

func (d versionDoc) version() snapshot.Version {
	v := snapshot.Version{
		ID: d.ID, Name: d.Name, Access: snapshot.Access{RequestsAuth: d.RequestsAuth, IP: d.IP},
		Validation: d.Validation, Publication: d.Publication,
	}
	for _, e := range d.Environments {
		one := snapshot.Environment{ID: e.ID, Name: e.Name, Target: e.Target, Domains: e.Domains, Upstream: e.Upstream}
		for _, name := range e.UpstreamHeaders {
			one.Headers = append(one.Headers, snapshot.UpstreamHeader{Name: name})
		}
		if e.ClientCertificate != "" {
			one.Certificate = &snapshot.ClientCertificate{Chain: e.ClientCertificate}
		}
		v.Environments = append(v.Environments, one)
	}
	return v
}

// addressOf returns the hosted URL of an environment from project-config.json.
func (d projectDoc) addressOf(version, environment string) string {
	for _, v := range d.Versions {
		for _, e := range v.Environments {
			if v.Name == version && e.Name == environment {
				return e.URL
			}
		}
	}
	return ""
}
