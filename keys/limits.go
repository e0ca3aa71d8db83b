package keys

import (
	"postern/models"
	"postern/snapshot"
)

// Limits reads what a column says. A window that is not known is left out: only a
// newer copy beside this one can have written it.
func Limits(column models.Limits) snapshot.Limits {
	var out snapshot.Limits
	for name, calls := range column {
		if window, ok := snapshot.ParseWindow(name); ok {
			out[window] = calls
		}
	}
	return out
}

func optionalLimits(column *models.Limits) *snapshot.Limits {
	if column == nil {
		return nil
	}
	limits := Limits(*column)
	return &limits
}
