package protocol

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"postern/core/filelimits"
)

const patchSchema = "urn:ietf:params:scim:api:messages:2.0:PatchOp"

// operation is one operation of a patch (RFC 7644, 3.5.2). Its members' names are decoded
// in any case.
type operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
	Name  json.RawMessage `json:"name"` // a label, such as addMember, which Entra ID may send
}

func parsePatch(raw []byte) ([]operation, error) {
	var patch struct {
		Schemas    []string    `json:"schemas"`
		Operations []operation `json:"Operations"`
	}
	if err := unmarshalKnown(raw, &patch); err != nil {
		return nil, invalid("invalidSyntax", "The body isn't a PatchOp: a JSON object with schemas and Operations, "+
			"each with op, path and value.")
	}
	isPatch := func(schema string) bool { return strings.EqualFold(schema, patchSchema) }
	if len(patch.Schemas) > 0 && !slices.ContainsFunc(patch.Schemas, isPatch) {
		return nil, invalid("invalidSyntax", "schemas must contain "+patchSchema+".")
	}
	if len(patch.Operations) == 0 {
		return nil, invalid("invalidSyntax", "Operations must contain at least one operation.")
	}
	if int64(len(patch.Operations)) > filelimits.SCIMOperations.Most {
		return nil, invalid("tooMany", filelimits.SCIMOperations.Sentence())
	}
	for i := range patch.Operations {
		o := &patch.Operations[i]
		if o.Op = strings.ToLower(o.Op); o.Op != "add" && o.Op != "replace" && o.Op != "remove" {
			return nil, invalid("invalidSyntax", "op must be add, replace or remove.")
		}
		if o.Op == "remove" && o.Path == "" {
			return nil, invalid("noTarget", "remove requires a path.")
		}
		if o.Op != "remove" && len(o.Value) == 0 {
			return nil, invalid("invalidValue", o.Op+" requires a value.")
		}
	}
	return patch.Operations, nil
}

// change is the resource that the attributes of a request are applied to.
type change interface {
	// apply applies an operation to the stored attribute at a path.
	apply(op string, p path, value json.RawMessage) error
	// unkept notes an attribute that is not stored.
	unkept(name string)
}

// applyPatch applies the operations of a patch.
func applyPatch(raw []byte, of kind, to change) error {
	operations, err := parsePatch(raw)
	if err != nil {
		return err
	}
	for _, o := range operations {
		if o.Path == "" {
			var members map[string]json.RawMessage
			if json.Unmarshal(o.Value, &members) != nil || members == nil {
				return invalid("invalidValue", "Without a path, value must be an object.")
			}
			if err := applyAll(o.Op, members, of, to); err != nil {
				return err
			}
			continue
		}
		p, err := parsePath(o.Path)
		if err != nil {
			return err
		}
		leads, err := of.find(p)
		switch {
		case err != nil:
			return err
		case leads == serverSet:
			return invalid("mutability", quoted(p)+" can't be changed, because the server sets it.")
		case leads == unstored:
			to.unkept(p.String())
		default:
			err = to.apply(o.Op, p, o.Value)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyAll applies an operation to each member of an object. Entra ID uses paths as names too. Attributes that the
// server sets are skipped (RFC 7644, 3.3 and 3.5.1), because clients send back the answers that they got.
func applyAll(op string, members map[string]json.RawMessage, of kind, to change) error {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		p, err := parsePath(name)
		if err != nil {
			return err
		}
		key := p.schema + ":" + p.String()
		if p.filter != nil {
			key = strings.ToLower(name)
		} else if p.schema == of.schema {
			key = ":" + p.String()
		}
		if seen[key] {
			return invalid("invalidSyntax", quoted(p)+" appears twice, in two spellings.")
		}
		seen[key] = true
		leads, err := of.find(p)
		switch {
		case err != nil:
			return err
		case leads == unstored:
			to.unkept(p.String())
		case leads == stored:
			err = to.apply(op, p, members[name])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// parseResource applies all members of the body of a POST or PUT.
func parseResource(raw []byte, of kind, to change) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil || members == nil {
		return invalid("invalidSyntax", "The body isn't a JSON object.")
	}
	err := applyAll("replace", members, of, to)
	if refusal, ok := errors.AsType[*Error](err); ok && refusal.Type == "invalidPath" {
		return invalid("invalidSyntax", refusal.Detail)
	}
	return err
}
