package serving

import (
	"fmt"
	"slices"

	"postern/core/snapshot"
	"postern/models"
	"postern/platform/secrets"
)

// readCallSigning adds the keys that sign the project's calls, sealed, and the data keys that
// open them.
func readCallSigning(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, k := range r.signing[row.ID] {
		if err := addDataKey(r.tx, out, k.PrivateKey); err != nil {
			return err
		}
		one := snapshot.CallSigningKey{
			ID:        k.ID,
			Public:    k.PublicKey,
			Sealed:    k.PrivateKey,
			SignsFrom: k.SignsFrom.UTC(),
		}
		if k.PublishedUntil != nil {
			one.PublishedUntil = k.PublishedUntil.UTC()
		}
		out.CallSigningKeys = append(out.CallSigningKeys, one)
	}
	return nil
}

// readUpstreamHeaders adds the headers of the environments, sealed, and the data keys that
// open them.
func readUpstreamHeaders(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, h := range r.headers[row.ID] {
		if err := addDataKey(r.tx, out, h.Value); err != nil {
			return err
		}
		if e := environmentIn(out, h.EnvironmentID); e != nil {
			e.Headers = append(e.Headers, snapshot.UpstreamHeader{Name: h.Name, Sealed: h.Value})
		}
	}
	return nil
}

func environmentIn(p *snapshot.Project, id string) *snapshot.Environment {
	for i := range p.Versions {
		for j := range p.Versions[i].Environments {
			if e := &p.Versions[i].Environments[j]; e.ID == id {
				return e
			}
		}
	}
	return nil
}

// addDataKey adds the wrapped data key of a sealed value.
func addDataKey(tx *models.Tx, out *snapshot.Project, sealed secrets.Sealed) error {
	id := sealed.DataKeyID()
	if slices.ContainsFunc(out.DataKeys, func(k snapshot.DataKey) bool { return k.ID == id }) {
		return nil
	}
	key, err := tx.DataKeyByID(id)
	if err != nil {
		return fmt.Errorf("data key %s: %w", id, err)
	}
	out.DataKeys = append(out.DataKeys, snapshot.DataKey{
		ID:             key.ID,
		Wrapped:        key.Wrapped,
		GatewayWrapped: key.GatewayWrapped,
	})
	return nil
}

// readClientCertificates adds the certificates of the environments, their keys sealed, and
// the data keys that open them.
func readClientCertificates(r *projectRows, row models.Project, out *snapshot.Project) error {
	for _, c := range r.certificates[row.ID] {
		if err := addDataKey(r.tx, out, c.PrivateKey); err != nil {
			return err
		}
		if e := environmentIn(out, c.EnvironmentID); e != nil {
			e.Certificate = &snapshot.ClientCertificate{Chain: c.Chain, Sealed: c.PrivateKey}
		}
	}
	return nil
}
