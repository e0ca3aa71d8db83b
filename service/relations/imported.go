package relations

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"postern/core/snapshot"
	"postern/platform/fault"
)

// maxImportedUser bounds the user of an imported relation, in bytes. Subjects of tokens are recorded as
// they are, so that more is allowed than by hand.
const maxImportedUser = 4096

// CheckImported checks a relation that was read from a zip. pointer is the name of its file there. That the
// object is in its canonical form is verified with the zip.
func CheckImported(pointer string, r *snapshot.Relation) []fault.Field {
	if len(r.User) <= maxImportedUser && !strings.ContainsRune(r.User, 0) {
		return nil
	}
	return []fault.Field{{
		Pointer: pointer + "/" + r.Object + "/user",
		Code:    "invalid_user",
		Detail:  fmt.Sprintf("Use at most %s bytes, without NUL.", humanize.Comma(maxImportedUser)),
	}}
}
