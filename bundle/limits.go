package bundle

import (
	"fmt"
	"net/netip"
	"slices"

	"postern/core/snapshot"
)

// noLimit replaces the window in the item of a key that is exempt from its type's limits.
const noLimit = "none"

// dimension is something that calls are counted by.
type dimension struct {
	name   string // in documents
	reads  string // in the name of an item
	limits snapshot.Limits
}

func dimensions(l snapshot.ProjectLimits) []dimension {
	return []dimension{
		{"key", "each key", l.Key}, {"owner", "each owner", l.Owner},
		{"ip", "each address", l.IP}, {"project", "all calls combined", l.Project},
	}
}

// limitSubjects lists the limits of the project and of its key types, one subject per
// window.
func (b *Build) limitSubjects() []Subject {
	var out []Subject
	add := func(holder, what, place string, limits snapshot.Limits, s Subject) {
		for _, w := range limited(limits) {
			one := s
			one.Feature, one.ID = snapshot.FeatureLimits, holder+":"+w.String()
			one.Name = fmt.Sprintf("%d per %s for %s", limits[w], w, what)
			one.Place = place + "/" + w.String()
			one.Source = At(configFile, "%s%s", s.Source.Pointer, one.Place)
			out = append(out, one)
		}
	}
	for _, d := range dimensions(b.Project.Limits) {
		add(b.Project.ID+":"+d.name, d.reads, "/limits/"+d.name, d.limits, Subject{Source: At(configFile, "")})
	}
	for i := range b.Project.KeyTypes {
		t := &b.Project.KeyTypes[i]
		add(t.ID, "each key of type "+t.Name, "/limits", t.Limits, Subject{
			KeyType: t,
			Source:  At(configFile, "/key_types/%d", i),
		})
	}
	return out
}

// keyLimitSubjects lists a key's own limits and address ranges. of is the subject of
// the key.
func keyLimitSubjects(of Subject) []Subject {
	var out []Subject
	add := func(f snapshot.Feature, id, name, place string) {
		one := of
		one.Feature, one.ID, one.Name, one.Place = f, of.ID+":"+id, name, place
		if of.Source != nil {
			one.Source = At(of.Source.File, "%s%s", of.Source.Pointer, place)
		}
		out = append(out, one)
	}
	if own := of.Key.Limits; own != nil {
		for _, w := range limited(*own) {
			name := fmt.Sprintf("%d per %s for %s", own[w], w, of.Name)
			add(snapshot.FeatureLimits, w.String(), name, "/limits/"+w.String())
		}
		if own.None() {
			add(snapshot.FeatureLimits, noLimit, "unlimited calls for "+of.Name, "/limits")
		}
	}
	for i, r := range of.Key.AllowedIPs {
		if !slices.Contains(of.Key.AllowedIPs[:i], r) {
			add(snapshot.FeatureKeyIPs, r.String(), of.Name+" from "+r.String(), fmt.Sprintf("/allowed_cidrs/%d", i))
		}
	}
	return out
}

// ruleSubjects lists the address rules of a version. here is the JSON Pointer to the
// version.
func ruleSubjects(v *snapshot.Version, here string) []Subject {
	var out []Subject
	for _, list := range []struct {
		name   string
		ranges []netip.Prefix
	}{{"allow", v.Access.IP.Allow}, {"deny", v.Access.IP.Deny}} {
		for i, r := range list.ranges {
			if slices.Contains(list.ranges[:i], r) {
				continue
			}
			place := fmt.Sprintf("/ip/%s/%d", list.name, i)
			out = append(out, Subject{
				Feature: snapshot.FeatureIPRules,
				ID:      v.ID + ":" + list.name + ":" + r.String(),
				Name:    v.Name + " " + list.name + " " + r.String(),
				Source:  At(configFile, "%s%s", here, place),
				Version: v,
				Place:   place,
			})
		}
	}
	return out
}

// limited returns the windows that l limits.
func limited(l snapshot.Limits) []snapshot.Window {
	var out []snapshot.Window
	for w, calls := range l {
		if calls > 0 {
			out = append(out, snapshot.Window(w))
		}
	}
	return out
}
