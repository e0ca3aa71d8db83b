package openapi

// Change lists the operations, as method and path, in which a document differs from the previous one.
type Change struct {
	Added, Removed []string
	Changed        []string // the operation itself, not the objects that it refers to
}

// Diff returns how to differs from from.
func Diff(from, to *Summary) (out Change) {
	before := map[string]string{}
	for _, op := range from.Operations {
		before[op.Method+" "+op.Path] = op.Digest
	}
	for _, op := range to.Operations {
		name := op.Method + " " + op.Path
		digest, was := before[name]
		delete(before, name)
		switch {
		case !was:
			out.Added = append(out.Added, name)
		case digest != op.Digest:
			out.Changed = append(out.Changed, name)
		}
	}
	for _, op := range from.Operations {
		name := op.Method + " " + op.Path
		if _, left := before[name]; left {
			out.Removed = append(out.Removed, name)
		}
	}
	return out
}
