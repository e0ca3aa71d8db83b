package bundle

import (
	"context"
	"fmt"
	"io"
	"slices"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// Summary counts the items of a ledger by status.
type Summary struct {
	Exact       int64 `json:"exact"`
	Approximate int64 `json:"approximate"`
	Lossy       int64 `json:"lossy"`
	Skipped     int64 `json:"skipped"`
}

func (s *Summary) count(status Status, n int64) {
	switch status {
	case Exact:
		s.Exact += n
	case Approximate:
		s.Approximate += n
	case Lossy:
		s.Lossy += n
	case Skipped:
		s.Skipped += n
	}
}

// Item is one line of the ledger.
type Item struct {
	ID     string   `json:"id"`
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	Status Status   `json:"status"`
	Code   string   `json:"code"`
	Note   string   `json:"note"`
	Remedy *string  `json:"remedy"`
	Source *Pointer `json:"source"`
	Target *Pointer `json:"target"`
	Probes []string `json:"probes"`
}

// ReportFile is the name of the ledger in the archive.
const ReportFile = reportFile

const (
	reportFile   = "MIGRATION-REPORT.json"
	ledgerFormat = "postern-ledger/1"
)

// report returns the ledger. Its summary precedes the items, which are too many to hold
// in memory, so it iterates over them twice: to count and to write.
func (b *Build) report() Part {
	return Part{Name: reportFile, Doc: reportDoc, Write: func(ctx context.Context, w io.Writer) error {
		b.digest = Digest{}
		err := b.items(ctx, reportFile, b.digest.Add)
		b.summary = b.digest.Summary
		if err != nil {
			return err
		}
		out := jsonfile.NewStream(w)
		out.Raw("{\n  \"format\": \"" + ledgerFormat + "\",\n  \"generator\": ")
		out.Value(b.Generator)
		out.Raw(",\n  \"project\": ")
		out.Value(map[string]string{"id": b.Project.ID, "name": b.Project.Name})
		out.Raw(",\n  \"target\": ")
		out.Value(b.target.Name)
		out.Raw(",\n  \"exported_at\": ")
		out.Value(b.ExportedAt())
		out.Raw(",\n  \"summary\": ")
		out.Value(b.summary)
		out.Raw(",\n  \"items\": ")
		out.Open("[")
		err = b.items(ctx, reportFile, func(item Item) {
			out.Next("    ")
			out.Value(item)
		})
		if err != nil {
			return err
		}
		out.Raw("\n  ]\n}\n")
		return out.Close()
	}}
}

// items calls emit with the item of every subject.
func (b *Build) items(ctx context.Context, part string, emit func(Item)) error {
	return b.subjects(ctx, part, func(s Subject) error {
		verdict := Verdict{}
		if b.target.Judge != nil {
			verdict = b.target.Judge(b, s)
		}
		if s.Feature == snapshot.FeatureRequestLimits {
			verdict.Reason = s.ID
		}
		if s.Feature == snapshot.FeatureHostedLogin && s.Client.Machine && verdict.Reason == "" {
			verdict.Reason = MachineLogin.Reason
		}
		if b.leftOut(s) && verdict.Reason == "" {
			verdict.Reason = ReasonLeftOut
		}
		fate, err := b.target.fate(s.Feature, verdict.Reason)
		if err != nil {
			return err
		}
		emit(Item{
			ID: s.ItemID(), Kind: string(s.Feature), Name: s.Name,
			Status: fate.Status, Code: b.target.Name + "." + string(s.Feature) + "." + fate.Reason,
			Note: fate.Note, Remedy: optional(fate.Remedy),
			Source: s.Source, Target: verdict.Target, Probes: list(verdict.Probes),
		})
		return nil
	})
}

// ReasonLeftOut is the reason, on every target, of the fate of keys and users that the options leave out.
const ReasonLeftOut = "left_out"

// leftOut reports whether the options leave a subject out.
func (b *Build) leftOut(s Subject) bool {
	switch {
	case s.Key != nil:
		return !b.HasKeys()
	case s.Feature == snapshot.FeatureUsers:
		return !b.Options.Consumers
	}
	return false
}

// subjects calls visit with every subject of the ledger, in the order of
// snapshot.Features, except that the subjects of a key follow it directly.
func (b *Build) subjects(ctx context.Context, part string, visit func(Subject) error) error {
	p := b.Project
	for _, s := range b.fixedSubjects() {
		if err := visit(s); err != nil {
			return err
		}
	}
	if err := b.keySubjects(ctx, part, visit); err != nil {
		return err
	}
	for _, fate := range b.target.Table[snapshot.FeatureRequestLimits] {
		if err := visit(Subject{
			Feature: snapshot.FeatureRequestLimits,
			ID:      fate.Reason,
			Name:    fate.Reason,
		}); err != nil {
			return err
		}
	}
	for _, f := range snapshot.AlwaysReported() {
		of := []Subject{{Feature: f, ID: p.ID, Name: string(f)}}
		if f == snapshot.FeatureObjectOwnership {
			of[0] = b.ownershipSubject()
		}
		if hosts := b.hostSubjects(); f == snapshot.FeatureCustomDomains && len(hosts) > 0 {
			of = hosts
		}
		for _, s := range of {
			if err := visit(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// fixedSubjects lists the subjects of the project's documents, in the order of the ledger.
func (b *Build) fixedSubjects() []Subject {
	p := b.Project
	fixed := []Subject{{Feature: snapshot.FeatureProject, ID: p.ID, Name: p.Name, Source: At(configFile, "")}}
	if p.Deleted {
		fixed = append(fixed, Subject{Feature: snapshot.FeatureBin, ID: p.ID, Name: p.Name})
	}
	fixed = append(fixed, b.versionSubjects()...)
	fixed = append(fixed, b.clientSubjects()...)
	fixed = append(fixed, b.providerSubjects()...)
	fixed = append(fixed, signingSubjects(p)...)
	fixed = append(fixed, b.mappingSubjects()...)
	fixed = append(fixed, b.settingSubjects()...)
	fixed = append(fixed, b.peopleSubjects()...)
	fixed = append(fixed, b.teamSubjects()...)
	fixed = append(fixed, apiSubjectsOf(p.ID, p.API)...)
	fixed = append(fixed, corsSubjects(p)...)
	for i, t := range p.KeyTypes {
		fixed = append(fixed, Subject{
			Feature: snapshot.FeatureKeyType,
			ID:      t.ID,
			Name:    t.Name,
			Source:  At(configFile, "/key_types/%d", i),
		})
	}
	fixed = append(fixed, b.tenantSubjects()...)
	if p.ProductID != "" {
		fixed = append(fixed, Subject{
			Feature: snapshot.FeatureProduct,
			ID:      p.ProductID,
			Name:    p.Product,
			Source:  At(configFile, "/product"),
		})
	}
	fixed = append(fixed, b.limitSubjects()...)
	return fixed
}

// tenantSubjects lists the tenants, their fallback owners and their CORS.
func (b *Build) tenantSubjects() []Subject {
	var out []Subject
	for i := range b.Project.Tenants {
		t := &b.Project.Tenants[i]
		here := fmt.Sprintf("/tenants/%d", i)
		out = append(out, Subject{
			Feature: snapshot.FeatureTenant,
			ID:      t.ID,
			Name:    t.Name,
			Source:  At(configFile, "%s", here),
			Tenant:  t,
		})
		if t.FallbackOwner != "" {
			out = append(out, Subject{Feature: snapshot.FeatureOwnerFallback, ID: t.ID, Name: t.Name,
				Source: At(configFile, "%s/fallback_owner", here), Tenant: t})
		}
		if t.CORS != nil {
			out = append(out, Subject{Feature: snapshot.FeatureTenantCORS, ID: t.ID, Name: t.Name,
				Source: At(configFile, "%s/cors", here), Tenant: t})
		}
	}
	return out
}

func (b *Build) tenantName(id string) string {
	for _, t := range b.Project.Tenants {
		if t.ID == id {
			return t.Name
		}
	}
	return id
}

// versionSubjects lists the versions and their subjects, feature by feature.
func (b *Build) versionSubjects() []Subject {
	byFeature := map[snapshot.Feature][]Subject{}
	add := func(s Subject) { byFeature[s.Feature] = append(byFeature[s.Feature], s) }
	for i := range b.Project.Versions {
		v := &b.Project.Versions[i]
		here := fmt.Sprintf("/versions/%d", i)
		add(Subject{
			Feature: snapshot.FeatureVersion,
			ID:      v.ID,
			Name:    v.Name,
			Source:  At(configFile, "%s", here),
			Version: v,
		})
		add(Subject{
			Feature: snapshot.FeatureAccess,
			ID:      v.ID,
			Name:    v.Name,
			Source:  At(configFile, "%s/requests_auth", here),
			Version: v,
		})
		if v.Access.Keyless == snapshot.OwnerFallback {
			add(Subject{Feature: snapshot.FeatureOwnerFallback, ID: v.ID, Name: v.Name,
				Source: At(configFile, "%s/requests_auth/keyless", here), Version: v})
		}
		for n, one := range v.Access.Issuers {
			add(Subject{
				Feature: snapshot.FeatureTokenIssuer,
				ID:      fmt.Sprintf("%s:%d", v.ID, n),
				Name:    v.Name + " " + one.Line(),
				Source:  At(configFile, "%s/requests_auth/jwt/allowed_pairs/%d", here, n),
				Version: v,
			})
		}
		if v.Access.Opaque.Endpoint != "" {
			add(Subject{Feature: snapshot.FeatureIntrospection, ID: v.ID, Name: v.Name + " " + v.Access.Opaque.Endpoint,
				Source: At(configFile, "%s/requests_auth/opaque", here), Version: v})
		}
		for _, one := range slices.Concat(b.transformSubjects(v), b.routeRuleSubjects(v)) {
			add(one)
		}
		for _, rule := range ruleSubjects(v, here) {
			add(rule)
		}
		add(Subject{
			Feature: snapshot.FeatureOpenAPI,
			ID:      v.ID,
			Name:    v.Name,
			Source:  At(b.openAPIFile(v), ""),
			Version: v,
		})
		for _, one := range descriptionSubjects(v, here) {
			add(one)
		}
		for _, one := range b.environmentSubjects(v, here) {
			add(one)
		}
	}
	var out []Subject
	for _, f := range snapshot.Features() {
		out = append(out, byFeature[f]...)
	}
	return out
}

// environmentSubjects lists a version's environments, each with its routes and upstream credentials.
func (b *Build) environmentSubjects(v *snapshot.Version, here string) []Subject {
	var out []Subject
	for j := range v.Environments {
		e := &v.Environments[j]
		place := fmt.Sprintf("%s/environments/%d", here, j)
		out = append(out, Subject{Feature: snapshot.FeatureEnvironment, ID: e.ID, Name: v.Name + "/" + e.Name,
			Source: At(configFile, "%s", place), Version: v, Environment: e})
		for n, form := range []AddressForm{HostForm, PathForm} {
			out = append(out, Subject{
				Feature:     snapshot.FeatureRoute,
				ID:          e.ID + ":" + string(form),
				Name:        RoutePath(b.Project, v, e, form),
				Source:      At(configFile, "%s/routes/%d", place, n),
				Version:     v,
				Environment: e,
				Form:        form,
			})
		}
		for n, h := range e.Headers {
			out = append(out, Subject{
				Feature:     snapshot.FeatureUpstreamHeader,
				ID:          e.ID + ":" + h.Name,
				Name:        v.Name + "/" + e.Name + " " + h.Name,
				Source:      At(configFile, "%s/upstream_headers/%d", place, n),
				Version:     v,
				Environment: e,
			})
		}
		if e.Certificate != nil {
			out = append(out, Subject{
				Feature:     snapshot.FeatureUpstreamCert,
				ID:          e.ID,
				Name:        v.Name + "/" + e.Name + " client certificate",
				Source:      At(configFile, "%s/client_certificate", place),
				Version:     v,
				Environment: e,
			})
		}
	}
	return out
}

func (b *Build) keySubjects(ctx context.Context, part string, visit func(Subject) error) error {
	for _, tenant := range b.Project.Tenants {
		line := 0
		for k, err := range b.KeysOf(ctx, tenant, part) {
			if err != nil {
				return err
			}
			s := Subject{Feature: snapshot.FeatureKey, ID: k.ID, Name: k.Prefix + "…" + k.Last4, Key: k}
			if b.HasKeys() {
				s.Source = At(KeysFile(tenant), "/%d", line)
			}
			line++
			for _, one := range ofKey(s) {
				if err := visit(one); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// ofKey lists the subjects of a key, itself first.
func ofKey(s Subject) []Subject {
	out := []Subject{s}
	if s.Key.OldHash != nil {
		grace := s
		grace.Feature = snapshot.FeatureKeyGrace
		if s.Source != nil {
			grace.Source = At(s.Source.File, "%s/previous_sha256", s.Source.Pointer)
		}
		out = append(out, grace)
	}
	return append(out, keyLimitSubjects(s)...)
}
