package bundle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"postern/core/snapshot"
)

// RulesFile has the requirements of each version's routes.
const RulesFile = "authz/rules.json"

type rulesDoc struct {
	Versions  []versionRulesDoc `json:"versions"`
	KeyOwners []keyOwnerDoc     `json:"key_owners"`
}

type versionRulesDoc struct {
	ID   string `json:"id"`
	Name string `json:"name"`

	snapshot.Rules
}

type keyOwnerDoc struct {
	User    string   `json:"user"`
	Tenant  string   `json:"tenant_id,omitempty"` // older exports have none
	Groups  []string `json:"groups"`
	AdminOf []string `json:"admin_of"`
}

// rules returns the files with the rules; none if no version has any.
func (b *Build) rules() []Part {
	doc := rulesDoc{Versions: []versionRulesDoc{}, KeyOwners: []keyOwnerDoc{}}
	for i := range b.Project.Versions {
		if v := &b.Project.Versions[i]; !v.Rules.None() {
			doc.Versions = append(doc.Versions, versionRulesDocOf(v))
		}
	}
	if len(doc.Versions) == 0 {
		return nil
	}
	for _, m := range b.Members() {
		doc.KeyOwners = append(doc.KeyOwners, keyOwnerDoc{m.User, m.TenantID, list(m.In), list(m.Admin)})
	}
	return append([]Part{document(RulesFile, rulesFileDoc, doc)}, b.openFGA()...)
}

// HasRules reports whether the export has rules, and files for OpenFGA.
func (b *Build) HasRules() bool {
	return slices.ContainsFunc(b.Project.Versions, func(v snapshot.Version) bool { return !v.Rules.None() })
}

// Members returns the owners of keys who are in groups that rules name. It returns none if the export has no keys.
func (b *Build) Members() []snapshot.Member {
	if !b.HasKeys() {
		return nil
	}
	return b.Project.Members
}

func versionRulesDocOf(v *snapshot.Version) versionRulesDoc {
	doc := versionRulesDoc{v.ID, v.Name, v.Rules}
	doc.Default, doc.Mode = cmp.Or(doc.Default, snapshot.RulesAllow), v.Rules.ModeOf(&snapshot.Rule{})
	return doc
}

// readRules reads the requirements of the routes of the project's versions.
func (v *verifier) readRules(p *snapshot.Project) error {
	if _, have := v.files[RulesFile]; !have {
		return nil
	}
	doc, err := decodeWhole[rulesDoc](v, RulesFile)
	if err != nil {
		return err
	}
	for _, one := range doc.Versions {
		found := false
		for i := range p.Versions {
			if p.Versions[i].ID == one.ID {
				p.Versions[i].Rules, found = one.Rules, true
			}
		}
		if !found {
			return problem(RulesFile, "%s has no version %s", configFile, one.ID)
		}
	}
	for _, one := range doc.KeyOwners {
		p.Members = append(p.Members, snapshot.Member{
			User:     one.User,
			TenantID: one.Tenant,
			In:       one.Groups,
			Admin:    one.AdminOf,
		})
	}
	return nil
}

// routeRuleSubjects lists the rules of a version, and the default for its routes without a rule.
func (b *Build) routeRuleSubjects(v *snapshot.Version) []Subject {
	if v.Rules.None() {
		return nil
	}
	at := 0
	for i := range b.Project.Versions {
		if b.Project.Versions[i].ID == v.ID {
			break
		}
		if !b.Project.Versions[i].Rules.None() {
			at++
		}
	}
	here := fmt.Sprintf("/versions/%d", at)
	out := []Subject{{
		Feature: snapshot.FeatureRuleDefault,
		ID:      v.ID,
		Name:    v.Name,
		Source:  At(RulesFile, "%s/default", here),
		Version: v,
	}}
	for i := range v.Rules.List {
		rule := &v.Rules.List[i]
		out = append(out, Subject{
			Feature: snapshot.FeatureRule,
			ID:      v.ID + ":" + rule.ID,
			Name:    v.Name + " " + strings.Join(rule.Methods, ",") + " " + rule.Path,
			Source:  At(RulesFile, "%s/rules/%d", here, i),
			Version: v,
			Rule:    rule,
		})
	}
	return out
}

// ruleItems returns the ids of the items that the rules require.
func (v *verifier) ruleItems(p *snapshot.Project) ([]string, error) {
	if err := v.readRules(p); err != nil {
		return nil, err
	}
	b := &Build{Project: p}
	var ids []string
	for i := range p.Versions {
		for _, s := range b.routeRuleSubjects(&p.Versions[i]) {
			ids = append(ids, string(s.Feature)+":"+s.ID)
		}
	}
	return ids, nil
}
