package bundle

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"postern/core/contract"
	"postern/core/filelimits"
	"postern/core/snapshot"
	"postern/platform/fault"
)

// complete checks that the ledger has an item for everything in the other files and for
// the features that are always reported.
func (l *ledgerCheck) complete(config projectDoc) error {
	for _, ref := range l.keyRows {
		return problem(reportFile, "the ledger has no item for line %d of %s", ref.line+1, ref.file)
	}
	ids, err := l.v.loginItems(config)
	if err != nil {
		return err
	}
	for _, id := range append(ids, expectedItems(config)...) {
		if _, have := l.seen[l.hash(id)]; !have {
			return problem(reportFile, "item %s is missing", id)
		}
	}
	return nil
}

// loginItems returns the ids of the items that the files about hosted login require.
func (v *verifier) loginItems(config projectDoc) ([]string, error) {
	p, err := config.project()
	if err != nil {
		return nil, problem(configFile, "%s", err)
	}
	if err := v.readLogin(p); err != nil {
		return nil, err
	}
	var ids []string
	for _, w := range p.Webhooks {
		ids = append(ids, string(snapshot.FeatureWebhook)+":"+w.ID)
	}
	for _, c := range p.Clients {
		ids = append(ids, string(snapshot.FeatureHostedLogin)+":"+c.ID)
		for _, one := range c.Providers {
			ids = append(ids, string(snapshot.FeatureProvider)+":"+c.ID+":"+one.ID)
			for n := range one.Settings.Mappings {
				ids = append(ids, fmt.Sprintf("%s:%s:%d", snapshot.FeatureGroupMapping, one.ID, n))
			}
		}
	}
	rules, err := v.ruleItems(p)
	if err != nil {
		return nil, err
	}
	transforms, err := v.transformItems(p)
	if err != nil {
		return nil, err
	}
	people, err := v.peopleItems(p)
	return slices.Concat(ids, rules, transforms, people), err
}

// peopleItems returns the ids of the items that the files about the people of tenants
// require.
func (v *verifier) peopleItems(p *snapshot.Project) ([]string, error) {
	if err := v.readPeople(p); err != nil {
		return nil, err
	}
	var ids []string
	add := func(f snapshot.Feature, id string) { ids = append(ids, string(f)+":"+id) }
	for _, t := range p.Tenants {
		if t.Directory == nil {
			continue
		}
		add(snapshot.FeatureUsers, t.ID)
		if t.Directory.Consents > 0 {
			add(snapshot.FeatureConsents, t.ID)
		}
		for _, g := range t.Directory.Groups {
			add(snapshot.FeatureUserGroup, g.ID)
		}
		for _, a := range t.Directory.Approvals {
			add(snapshot.FeatureSignupPolicy, a.ID)
		}
	}
	return ids, nil
}

func expectedItems(config projectDoc) []string {
	var ids []string
	named := false // whether an environment has a host name
	add := func(f snapshot.Feature, id string) { ids = append(ids, string(f)+":"+id) }
	add(snapshot.FeatureProject, config.ID)
	for _, t := range config.KeyTypes {
		add(snapshot.FeatureKeyType, t.ID)
		for window := range t.Limits {
			add(snapshot.FeatureLimits, t.ID+":"+window)
		}
	}
	for of, limits := range map[string]contract.Limits{"key": config.Limits.Key, "owner": config.Limits.Owner,
		"ip": config.Limits.IP, "project": config.Limits.Project} {
		for window := range limits {
			add(snapshot.FeatureLimits, config.ID+":"+of+":"+window)
		}
	}
	if config.API != nil {
		for _, s := range apiSubjectsOf(config.ID, *config.API) {
			add(s.Feature, s.ID)
		}
	}
	if config.CORS != nil {
		add(snapshot.FeatureCORS, config.ID)
	}
	if config.Product != nil {
		add(snapshot.FeatureProduct, config.Product.ID)
	}
	for _, t := range config.Tenants {
		add(snapshot.FeatureTenant, t.ID)
		if t.FallbackOwner != nil {
			add(snapshot.FeatureOwnerFallback, t.ID)
		}
		if t.CORS != nil {
			add(snapshot.FeatureTenantCORS, t.ID)
		}
	}
	for _, v := range config.Versions {
		add(snapshot.FeatureVersion, v.ID)
		for _, s := range accessSubjects(v.ID, v.Name, v.RequestsAuth, "") {
			add(s.Feature, s.ID)
		}
		add(snapshot.FeatureOpenAPI, v.ID)
		if v.Validation != snapshot.ValidationOff {
			add(snapshot.FeatureValidation, v.ID)
		}
		if v.Publication != snapshot.PublicationOff {
			add(snapshot.FeaturePublication, v.ID)
		}
		for _, r := range v.IP.Allow {
			add(snapshot.FeatureIPRules, v.ID+":allow:"+r.String())
		}
		for _, r := range v.IP.Deny {
			add(snapshot.FeatureIPRules, v.ID+":deny:"+r.String())
		}
		for _, e := range v.Environments {
			add(snapshot.FeatureEnvironment, e.ID)
			add(snapshot.FeatureTimeouts, e.ID)
			add(snapshot.FeatureRetries, e.ID)
			for _, one := range upstreamSettings(e.Upstream) {
				add(one.feature, e.ID)
			}
			add(snapshot.FeatureRoute, e.ID+":"+string(HostForm))
			add(snapshot.FeatureRoute, e.ID+":"+string(PathForm))
			for i := range e.Domains {
				add(snapshot.FeatureCustomDomains, e.Domains[i].Key())
				named = true
			}
		}
	}
	for _, f := range snapshot.AlwaysReported() {
		if f != snapshot.FeatureCustomDomains || !named {
			add(f, config.ID)
		}
	}
	return ids
}

// rowItems returns the ids of the items that a key requires.
func rowItems(k *snapshot.Key) []string {
	ids := []string{string(snapshot.FeatureKey) + ":" + k.ID}
	if k.OldHash != nil {
		ids = append(ids, string(snapshot.FeatureKeyGrace)+":"+k.ID)
	}
	if k.Limits != nil {
		if k.Limits.None() {
			ids = append(ids, string(snapshot.FeatureLimits)+":"+k.ID+":"+noLimit)
		}
		for _, window := range limited(*k.Limits) {
			ids = append(ids, string(snapshot.FeatureLimits)+":"+k.ID+":"+window.String())
		}
	}
	for _, r := range k.AllowedIPs {
		ids = append(ids, string(snapshot.FeatureKeyIPs)+":"+k.ID+":"+r.String())
	}
	return ids
}

// resolve checks that every JSON file is well-formed and that every pointer into one
// resolves.
func (l *ledgerCheck) resolve() error {
	for _, name := range l.v.names() {
		var err error
		switch {
		case strings.HasSuffix(name, ".jsonl"):
			delete(l.pointers[name], l.hash("")) // the whole file
			err = l.v.lines(name, func(n int, line []byte) error {
				return l.walk(name, "/"+strconv.Itoa(n), json.NewDecoder(strings.NewReader(string(line))))
			})
		case strings.HasSuffix(name, ".json"), strings.HasSuffix(name, "/gateway.yaml"):
			err = l.document(name)
		}
		if err != nil {
			return err
		}
		for _, item := range l.pointers[name] {
			return problem(reportFile, "item %d points to a place in %s that doesn't exist", item, name)
		}
	}
	return nil
}

func (l *ledgerCheck) document(name string) error {
	r, err := l.v.open(name)
	if err != nil {
		return err
	}
	defer r.Close()
	l.token = &ration{from: r}
	defer func() { l.token = nil }()
	return l.walk(name, "", json.NewDecoder(l.token))
}

// maxFields bounds an object whose names are remembered.
const maxFields = 100_000

// names are the hashes of the names in an object. Most objects have a few.
type names struct {
	few  []uint64
	many map[uint64]bool
}

// add reports whether a name is new and there aren't too many.
func (n *names) add(hash uint64) bool {
	const few = 32
	if slices.Contains(n.few, hash) || n.many[hash] || len(n.many) >= maxFields {
		return false
	}
	if len(n.few) < few {
		n.few = append(n.few, hash)
		return true
	}
	if n.many == nil {
		n.many = map[uint64]bool{}
	}
	n.many[hash] = true
	return true
}

// asRead returns a name as the reader of a file interprets it. encoding/json, which reads rows and documents into
// structs, ignores the case of names, and so uses the last of two spellings.
func asRead(file, name string) string {
	if file == gatewayFile || strings.Contains(file, "openapi") { // whose names others chose
		return name
	}
	return strings.ToLower(name)
}

func (l *ledgerCheck) walk(name, at string, d *json.Decoder) error {
	err := l.value(name, at, d, 0)
	if fault.CodeOf(err) == codeBadBundle {
		return err
	}
	if err != nil {
		return problem(name, "not a JSON document: %s", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return problem(name, "there is more text after the document")
	}
	return nil
}

// pointerEscapes escapes a JSON Pointer's reference token (RFC 6901, section 3).
var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

// Escape escapes a member's name for a JSON Pointer.
func Escape(name string) string { return pointerEscapes.Replace(name) }

// next returns the next token. It limits a text to the size of a whole document.
func (l *ledgerCheck) next(d *json.Decoder) (json.Token, error) {
	if l.token != nil {
		l.token.left = int(filelimits.ZipDocument.Most)
	}
	return d.Token()
}

// value consumes one value and removes the pointers to it and into it from those that
// are not resolved yet.
func (l *ledgerCheck) value(name, at string, d *json.Decoder, depth int) error {
	if err := l.v.ctx.Err(); err != nil {
		return fmt.Errorf("verify %s: %w", name, err)
	}
	delete(l.pointers[name], l.hash(at))
	token, err := l.next(d)
	if err != nil {
		return err
	}
	bracket, ok := token.(json.Delim)
	if !ok {
		return l.gatewayKey(name, at, token)
	}
	if int64(depth) >= filelimits.ZipNesting.Most { // the stack overflows, for a document of only brackets
		return beyond(name, filelimits.ZipNesting)
	}
	var fields names
	unique := bracket == '{' && (name != gatewayFile || at+"/" != gatewayKeys) // gatewayKey finds duplicates there
	for n := 0; d.More(); n++ {
		step := strconv.Itoa(n)
		if bracket == '{' {
			field, err := l.next(d)
			if err != nil {
				return err
			}
			text := field.(string) // in an object every other token is a name
			if unique && !fields.add(l.hash(asRead(name, text))) {
				return fmt.Errorf("%s has two fields with the same name, or more than %d fields", at, maxFields)
			}
			step = pointerEscapes.Replace(text)
		}
		if err := l.value(name, at+"/"+step, d, depth+1); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}
