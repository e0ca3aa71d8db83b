package snapshot

// OpaquePrefixes returns how opaque access tokens begin that an app of a kind of provider
// gets, nil if that is not documented.
func OpaquePrefixes(kind string) []string {
	switch kind {
	case "github":
		return []string{"gho_", "ghu_"}
	case "google":
		return []string{"ya29."}
	case "facebook":
		return []string{"EAA"}
	}
	return nil
}
