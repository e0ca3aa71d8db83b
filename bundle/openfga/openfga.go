// Package openfga writes the rules of a project's routes, and the groups that they name, for OpenFGA: an authorization
// model in its language and as JSON (schema 1.1), relationship tuples, and a store file with assertions about each
// rule. It owns the model and the names of its objects. The rule for a call is chosen, and its credential is checked,
// before it is sent to OpenFGA; docs/openfga.md says how. Limits of OpenFGA are those of its server 1.22.1.
package openfga

import (
	"context"
	"crypto/sha256"
	_ "embed" // load.sh
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"postern/core/policy"
	"postern/core/snapshot"
)

// Source is the data that the files are built from.
type Source struct {
	Project *snapshot.Project
	Tenants []snapshot.Tenant // whose users are exported; each has a Directory
	// Users streams the users of a tenant in ascending order of ids.
	Users func(context.Context, snapshot.Tenant) iter.Seq2[*snapshot.User, error]
	// Relations streams who owns which object; nil: no object has an owner.
	Relations func(context.Context) iter.Seq2[*snapshot.Relation, error]
}

// LoadScript is load.sh, which loads the files into a server. It depends on their names and on the form of their lines.
//
//go:embed load.sh
var LoadScript string

// StoreName returns the name of the store, which differs for each state of the project, because a store is loaded only
// once.
func (s Source) StoreName() string {
	return s.Project.Name + "." + strconv.FormatInt(s.Project.Revision, 10)
}

// Tuple is a relationship: user has the relation to object.
type Tuple struct {
	User     string `json:"user"`
	Relation string `json:"relation"`
	Object   string `json:"object"`
}

const (
	anyUser = "user:*"
	// withoutKey is the set of users who call without an API key: read_write_scopes applies only to keys.
	withoutKey = "call:without_key#by"
	keys       = "keys" // of an app: the caller, by one of its keys

	admits     = "admits"
	canRead    = "can_read"  // GET, HEAD and OPTIONS
	canWrite   = "can_write" // other methods
	owner      = "owner"     // of an object
	owned      = "owned"     // the object of a call, for a rule
	readScope  = "read_scope"
	writeScope = "write_scope"
)

// maxID limits the part after the type in the name of an object, in bytes: OpenFGA accepts names of at most 256 bytes,
// and the longest type is version.
const maxID = 240

// escape returns text as the id of an object: bytes other than letters, digits, "-", "_" and "." are
// %XX. Ids of more than limit bytes become "~" and the SHA-256 of the text: no other id begins with "~".
func escape(text string, limit int) string {
	var out strings.Builder
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
			out.WriteByte(c)
		default:
			fmt.Fprintf(&out, "%%%02X", c)
		}
	}
	if out.Len() <= limit {
		return out.String()
	}
	sum := sha256.Sum256([]byte(text))
	return "~" + hex.EncodeToString(sum[:])
}

// Scope returns the object of a scope.
func Scope(name string) string { return "scope:" + escape(name, maxID) }

// User returns the object of a caller: a user, an owner of keys, or an app client.
func User(id string) string { return "user:" + escape(id, maxID) }

// App returns the object of an app that owns keys of a tenant. Callers are users by the owner's name, which can name
// apps of several tenants, so the apps that are in groups are objects of their own.
func App(tenantID, owner string) string {
	return "app:" + escape(tenantID, maxID/2) + "." + escape(owner, maxID/2-1)
}

// Group returns the object of a group of a tenant.
func Group(id string) string { return "group:" + escape(id, maxID) }

// Version returns the object of a version.
func Version(id string) string { return "version:" + escape(id, maxID) }

// Rule returns the object of a rule. Rules of two versions may have the same ID.
func Rule(versionID, ruleID string) string {
	return "rule:" + escape(versionID, maxID/2) + "." + escape(ruleID, maxID/2-1)
}

// DefaultRule returns the object that stands for the routes of a version that have no rule.
func DefaultRule(versionID string) string { return "rule:" + escape(versionID, maxID/2) }

// unknownGroup returns the object of a group that rules name and no exported tenant has. It has no members, but any who
// are added are let in.
func unknownGroup(name string) string { return "group:~." + escape(name, maxID-2) }

// Object returns an object that users of a tenant own. Its form in Lua is in the plugin for Kong (owners.lua).
func Object(tenantID, object string) string {
	return "object:" + escape(tenantID, maxID/2) + "." + escape(object, maxID/2-1)
}

// slot returns the relation of the n-th scope of a rule, counted from 0.
func slot(n int) string { return fmt.Sprintf("scope_%02d", n+1) }

// slots returns the highest number of scopes of a rule.
func (s Source) slots() int {
	most := 0
	for v := range s.versions() {
		for i := range v.Rules.List {
			most = max(most, len(v.Rules.List[i].Scopes))
		}
	}
	return most
}

// versions iterates over the versions that have rules.
func (s Source) versions() iter.Seq[*snapshot.Version] {
	return func(yield func(*snapshot.Version) bool) {
		for i := range s.Project.Versions {
			if v := &s.Project.Versions[i]; !v.Rules.None() && !yield(v) {
				return
			}
		}
	}
}

// groupsNamed returns the groups of all tenants by name.
func (s Source) groupsNamed() map[string][]string {
	out := map[string][]string{}
	for _, t := range s.Tenants {
		for _, g := range t.Directory.Groups {
			out[g.Name] = append(out[g.Name], Group(g.ID))
		}
	}
	return out
}

// groupsOf returns the sets of users that satisfy the groups of a rule.
func groupsOf(rule *snapshot.Rule, named map[string][]string) []string {
	if len(rule.Groups) == 0 {
		return []string{anyUser}
	}
	relation := "#member"
	if rule.Role == snapshot.RoleAdmin {
		relation = "#admin"
	}
	var out []string
	for _, name := range rule.Groups {
		objects := named[name]
		if len(objects) == 0 {
			objects = []string{unknownGroup(name)}
		}
		for _, object := range objects {
			out = append(out, object+relation)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readWriteApplies reports whether keys need the scopes read and write for a rule, or, if it is nil, for routes without
// one.
func readWriteApplies(of *snapshot.Rules, rule *snapshot.Rule) bool {
	enforced := of.ReadWriteScopes && of.ModeOf(&snapshot.Rule{}) == snapshot.RulesEnforce
	return enforced && (rule == nil || len(rule.Scopes) == 0)
}

// closed reports whether routes without a rule are refused.
func closed(of *snapshot.Rules) bool {
	return of.Default == snapshot.RulesDeny && of.ModeOf(&snapshot.Rule{}) == snapshot.RulesEnforce
}

// wider returns the scopes that include a scope under another name; see policy.HasScope.
func wider(scope string) []string {
	out := []string{"*"}
	for i := 1; i < len(scope); i++ {
		if scope[i] == ':' {
			out = append(out, scope[:i+1]+"*")
		}
	}
	return slices.DeleteFunc(out, func(one string) bool { return one == scope })
}

// scopes returns all scopes that rules require, sorted.
func (s Source) scopes() []string {
	var out []string
	for v := range s.versions() {
		if readWriteApplies(&v.Rules, nil) {
			out = append(out, policy.ScopeRead, policy.ScopeWrite)
		}
		for i := range v.Rules.List {
			out = append(out, v.Rules.List[i].Scopes...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// relationsOf returns the relations of a rule that its methods need.
func relationsOf(rule *snapshot.Rule) []string {
	reads, writes := false, false
	for _, method := range rule.Methods {
		switch method {
		case policy.AnyMethod:
			reads, writes = true, true
		case "GET", "HEAD", "OPTIONS":
			reads = true
		default:
			writes = true
		}
	}
	var out []string
	if reads {
		out = append(out, canRead)
	}
	if writes {
		out = append(out, canWrite)
	}
	return out
}
