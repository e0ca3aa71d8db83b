package policy

import (
	"crypto/sha256"
	"slices"

	"postern/core/snapshot"
)

// OwnerRelation is the relation that rules require, remember and forget.
const OwnerRelation = "owner"

// RelationKey identifies a relation in memory: the first half of the SHA-256 of its parts. It has to be a hash without
// known collisions, because callers choose objects.
type RelationKey [16]byte

// Relations has the relations of projects.
type Relations interface {
	// Holds reports whether a project has the relation of the key.
	Holds(projectID string, key RelationKey) bool
}

// KeyOf returns the key of a relation. The object is in its canonical form.
func KeyOf(tenantID, user, relation, object string) RelationKey {
	var scratch [1024]byte
	text := appendField(appendField(appendField(scratch[:0], tenantID), user), relation)
	return hashRelation(append(text, object...))
}

func hashRelation(text []byte) (key RelationKey) {
	sum := sha256.Sum256(text)
	copy(key[:], sum[:])
	return key
}

// appendField appends a text after its length, so that two relations never have the same form.
func appendField(dst []byte, text string) []byte {
	return append(appendLength(dst, len(text)), text...)
}

func appendLength(dst []byte, n int) []byte { return append(dst, byte(n>>16), byte(n>>8), byte(n)) }

// RelationUser returns the user in the caller's relations: the user of the token, or else the owner of the key, or the
// app client that calls for itself. It is "" for a call without a credential, even if that falls back to an owner.
func (c *Call) RelationUser(id *Identity) string {
	user, issuer := c.relationUser(id)
	if issuer == "" {
		return user
	}
	return user + " (" + issuer + ")"
}

// relationUser returns the two parts of RelationUser. The issuer is "" for all but users of issuers that aren't app
// clients.
func (c *Call) relationUser(id *Identity) (user, issuer string) {
	switch {
	case id.User != "":
		return id.User, id.Issuer
	case id.CredentialID != "", c.Token != nil && c.Token.isMachine():
		return id.Owner, ""
	}
	return "", ""
}

// owns reports whether the caller owns the object of a call with this path. It does not allocate,
// except for very long names.
func (c *Call) owns(id *Identity, of object, path string, escaped bool) bool {
	user, issuer := c.relationUser(id)
	if user == "" || id.TenantID == "" || c.Relations == nil {
		return false
	}
	var scratch [1024]byte
	text := appendField(scratch[:0], id.TenantID)
	if issuer == "" {
		text = appendField(text, user)
	} else {
		text = appendLength(text, len(user)+len(" (")+len(issuer)+len(")"))
		text = append(append(append(append(text, user...), " ("...), issuer...), ')')
	}
	text = appendField(text, OwnerRelation)
	begin := len(text)
	text, have := of.fromPath(text, path, escaped)
	if !have || len(text)-begin > MaxObject {
		return false
	}
	return c.Relations.Holds(c.Realm.ID, hashRelation(text))
}

// Tracking is a rule's change to relations after a 2xx response.
type Tracking struct {
	Rule     string // id
	remember object
	forget   object
}

// Remembers reports whether the answer names an object that the caller owns from then on.
func (t *Tracking) Remembers() bool { return t != nil && t.remember != nil }

// ReadsAnswer reports whether the object to remember contains values from the response, and not only from the path.
func (t *Tracking) ReadsAnswer() bool {
	return t != nil && slices.ContainsFunc(t.remember, func(part objectPart) bool { return part.answer != nil })
}

// Forgets reports whether an object's relations are removed.
func (t *Tracking) Forgets() bool { return t != nil && t.forget != nil }

// Forgotten returns the object whose relations are removed, for a normalized path below the environment.
func (t *Tracking) Forgotten(path string) (object string, ok bool) {
	text, ok := t.forget.fromPath(nil, path, true)
	return string(text), ok && len(text) <= MaxObject
}

// rule is a rule, compiled.
type rule struct {
	*snapshot.Rule

	owner    object
	tracking *Tracking // nil: none
}

func compileRule(of *snapshot.Rule) (*rule, error) {
	out := &rule{Rule: of}
	var err error
	if out.owner, err = compileObject(of.Owner, of.Path, false); err != nil {
		return nil, err
	}
	track := &Tracking{Rule: of.ID}
	if track.remember, err = compileObject(of.Remember, of.Path, true); err != nil {
		return nil, err
	}
	if track.forget, err = compileObject(of.Forget, of.Path, false); err != nil {
		return nil, err
	}
	if track.remember != nil || track.forget != nil {
		out.tracking = track
	}
	return out, nil
}

// tracking returns what the rule of a call's route does with relations: the enforced rule, or else the
// one in shadow; nil for nothing.
func (r *Rules) tracking(c *Call) *Tracking {
	if r == nil {
		return nil
	}
	for _, set := range [...]*ruleSet{r.enforced, r.shadow} {
		if set == nil || !set.tracks {
			continue
		}
		if found := set.tree.find(c.Path, c.Method, true); found != nil && found.tracking != nil {
			return found.tracking
		}
	}
	return nil
}
