package bundle

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"postern/bundle/jsonfile"
	"postern/core/contract"
	"postern/core/snapshot"
)

// Item is one line of the ledger.
type Item struct {
	ID         string   `json:"id"`
	Kind       string   `json:"kind"`
	Title      string   `json:"title"` // what it is, for people
	Name       string   `json:"name"`
	Status     Status   `json:"status"`
	Configured bool     `json:"configured"` // it exists because the team configured something, so not in every project
	Code       string   `json:"code"`
	Note       string   `json:"note"`
	Remedy     *string  `json:"remedy"`
	Source     *Pointer `json:"source"`
	Target     *Pointer `json:"target"`
	Probes     []string `json:"probes"`
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
		out.Value(b.digest.Summary)
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
		if verdict.Reason == "" {
			verdict.Reason = b.usualReason(s)
		}
		fate, err := b.target.fate(s.Feature, verdict.Reason)
		if err != nil {
			return err
		}
		title := fate.title(s.Feature)
		emit(Item{
			ID: s.ItemID(), Kind: string(s.Feature), Title: title, Name: cmp.Or(s.Name, title),
			Status: fate.Status, Configured: !fate.Always,
			Code: b.target.Name + "." + string(s.Feature) + "." + fate.Reason,
			Note: fate.Note, Remedy: optional(fate.Remedy),
			Source: s.Source, Target: verdict.Target, Probes: list(verdict.Probes),
		})
		return nil
	})
}

// usualReason returns the reason of the fate of a subject that the target doesn't judge: "" for the first one.
func (b *Build) usualReason(s Subject) string {
	switch {
	case b.leftOut(s):
		return ReasonLeftOut
	case s.Feature == snapshot.FeatureKeyType && s.KeyType.BuiltIn:
		return ReasonBuiltIn
	case s.Feature == snapshot.FeatureTenant && s.Tenant.Name == snapshot.DefaultTenant:
		return ReasonDefaultTenant
	case s.Feature == snapshot.FeatureTimeouts && s.Environment.Upstream.Timeouts.AreDefaults():
		return ReasonDefaults
	case s.Feature == snapshot.FeatureRetries && s.Environment.Upstream.Retries.AreDefaults():
		return ReasonDefaults
	case s.Feature == snapshot.FeatureUsers && s.Tenant.Directory.Users == 0:
		return ReasonNoUsers
	}
	return ""
}

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
		if err := visit(Subject{Feature: snapshot.FeatureRequestLimits, ID: fate.Reason}); err != nil {
			return err
		}
	}
	for _, f := range snapshot.AlwaysReported() {
		of := []Subject{{Feature: f, ID: p.ID}}
		if f == snapshot.FeatureObjectOwnership {
			of[0] = b.ownershipSubject()
		}
		if domains := b.domainSubjects(); f == snapshot.FeatureCustomDomains && len(domains) > 0 {
			of = domains
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
	for i := range p.KeyTypes {
		t := &p.KeyTypes[i]
		fixed = append(fixed, Subject{
			Feature: snapshot.FeatureKeyType,
			ID:      t.ID,
			Name:    t.Name,
			Source:  At(configFile, "/key_types/%d", i),
			KeyType: t,
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
		for _, one := range accessSubjects(v.ID, v.Name, v.Access.RequestsAuth, here+"/requests_auth") {
			one.Version = v
			add(one)
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

// accessSubjects lists the access policy of a version, and the settings in it that have their own items. here is the
// JSON Pointer to the policy.
func accessSubjects(id, name string, auth snapshot.RequestsAuth, here string) []Subject {
	out := []Subject{{Feature: snapshot.FeatureAccess, ID: id, Name: name, Source: At(configFile, "%s", here)}}
	if auth.Keyless == snapshot.OwnerFallback {
		out = append(out, Subject{
			Feature: snapshot.FeatureOwnerFallback, ID: id, Name: name, Source: At(configFile, "%s/keyless", here),
		})
	}
	for n, one := range auth.Issuers() {
		out = append(out, Subject{
			Feature: snapshot.FeatureTokenIssuer,
			ID:      fmt.Sprintf("%s:%d", id, n),
			Name:    name + " " + one.Line(),
			Source:  At(configFile, "%s/jwt/allowed_pairs/%d", here, n),
		})
	}
	if endpoint := auth.Introspection().Endpoint; endpoint != "" {
		out = append(out, Subject{
			Feature: snapshot.FeatureIntrospection, ID: id, Name: name + " " + endpoint,
			Source: At(configFile, "%s/opaque", here),
		})
	}
	return out
}

// upstreamSetting is a setting of an upstream that has an item only where it isn't the default.
type upstreamSetting struct {
	feature       snapshot.Feature
	title, member string
}

func upstreamSettings(u snapshot.Upstream) (out []upstreamSetting) {
	several := len(u.Targets) > 0
	if several {
		out = append(out, upstreamSetting{snapshot.FeatureTargets, "targets", "targets"})
	}
	if several || !u.Checks.AreDefaults() {
		out = append(out, upstreamSetting{snapshot.FeatureChecks, "checks", "checks"})
	}
	if u.Breaker.Exists() {
		out = append(out, upstreamSetting{snapshot.FeatureBreaker, "breaker", "breaker"})
	}
	if u.CA.IsSet() {
		out = append(out, upstreamSetting{snapshot.FeatureUpstreamCA, "certificate authorities", "ca"})
	}
	if u.Stated().HTTP != contract.HTTP1 {
		out = append(out, upstreamSetting{snapshot.FeatureUpstreamHTTP, "HTTP version", "http"})
	}
	if u.ServerName != nil && *u.ServerName != "" {
		out = append(out, upstreamSetting{snapshot.FeatureServerName, "server name", "server_name"})
	}
	if name, callers := u.OwnHost(); name != "" || callers {
		out = append(out, upstreamSetting{snapshot.FeatureHostHeader, "Host header", "host_header"})
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
		out = append(out, Subject{
			Feature:     snapshot.FeatureTimeouts,
			ID:          e.ID,
			Name:        v.Name + "/" + e.Name + " timeouts",
			Source:      At(configFile, "%s/upstream/timeouts", place),
			Version:     v,
			Environment: e,
		}, Subject{
			Feature:     snapshot.FeatureRetries,
			ID:          e.ID,
			Name:        v.Name + "/" + e.Name + " retries",
			Source:      At(configFile, "%s/upstream/retries", place),
			Version:     v,
			Environment: e,
		})
		for _, one := range upstreamSettings(e.Upstream) {
			out = append(out, Subject{
				Feature:     one.feature,
				ID:          e.ID,
				Name:        v.Name + "/" + e.Name + " " + one.title,
				Source:      At(configFile, "%s/upstream/%s", place, one.member),
				Version:     v,
				Environment: e,
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
