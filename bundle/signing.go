package bundle

import (
	"encoding/base64"
	"fmt"

	"postern/core/snapshot"
)

// signingDoc is the member call_signing of project-config.json. A project that doesn't sign its calls doesn't have one.
type signingDoc struct {
	Keys []signingKeyDoc `json:"keys"`
}

// signingKeyDoc is the public half of a key; the private half is not exported.
type signingKeyDoc struct {
	ID             string  `json:"id"`
	PublicKey      string  `json:"public_key"` // base64url, as x of a JSON Web Key
	SignsFrom      string  `json:"signs_from"`
	PublishedUntil *string `json:"published_until"`
}

func signingDocOf(keys []snapshot.CallSigningKey) *signingDoc {
	if len(keys) == 0 {
		return nil
	}
	doc := &signingDoc{}
	for _, k := range keys {
		doc.Keys = append(doc.Keys, signingKeyDoc{
			ID:             k.ID,
			PublicKey:      base64.RawURLEncoding.EncodeToString(k.Public),
			SignsFrom:      stamp(k.SignsFrom),
			PublishedUntil: optionalTime(k.PublishedUntil),
		})
	}
	return doc
}

// keys returns the keys that the document describes, without their private halves.
func (d *signingDoc) keys(in *reading) []snapshot.CallSigningKey {
	if d == nil {
		return nil
	}
	var out []snapshot.CallSigningKey
	for _, k := range d.Keys {
		public, err := base64.RawURLEncoding.DecodeString(k.PublicKey)
		if err != nil && in.err == nil {
			in.err = fmt.Errorf("%q isn't a public key", k.PublicKey)
		}
		out = append(out, snapshot.CallSigningKey{
			ID:             k.ID,
			Public:         public,
			SignsFrom:      in.moment(&k.SignsFrom),
			PublishedUntil: in.moment(k.PublishedUntil),
		})
	}
	return out
}

// signingSubjects lists the signatures of a project's calls: one thing, whatever the number
// of keys.
func signingSubjects(p *snapshot.Project) []Subject {
	if len(p.CallSigningKeys) == 0 {
		return nil
	}
	return []Subject{{
		Feature: snapshot.FeatureCallSigning,
		ID:      p.ID,
		Name:    "upstream call signatures",
		Source:  At(configFile, "/call_signing"),
	}}
}
