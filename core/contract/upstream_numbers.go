package contract

import "slices"

// UpstreamNumber is a numeric member of an upstream's settings.
type UpstreamNumber struct {
	Name        string // its JSON name
	Value       *int   // nil: not set
	Default     int
	Least, Most int

	member **int
}

// stateNumbers gives the members that aren't set their defaults.
func stateNumbers(all []UpstreamNumber) {
	for _, one := range all {
		if one.Value == nil {
			*one.member = &one.Default
		}
	}
}

// changeNumbers sets the members that changes have.
func changeNumbers(all, changes []UpstreamNumber) {
	for i, one := range all {
		if changes[i].Value != nil {
			*one.member = changes[i].Value
		}
	}
}

func areDefaults(all []UpstreamNumber) bool {
	return !slices.ContainsFunc(all, func(one UpstreamNumber) bool {
		return one.Value != nil && *one.Value != one.Default
	})
}
