package scim

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"postern/core/snapshot"
)

// atLimits returns users and groups whose texts are as long as service/directory takes them,
// of characters that need the most bytes, and every user in every group.
func atLimits(users, groups int) Source {
	long := strings.Repeat("\u200b", 200) // six bytes each, escaped
	id := func(kind string, n int) string { return fmt.Sprintf("%s_%026d", kind, n) }
	var allGroups []snapshot.Group
	var in []snapshot.Membership
	for n := range groups {
		g := snapshot.Group{ID: id("grp", n), Name: fmt.Sprint("g", n), DisplayName: long}
		for outer := range n {
			g.Parents = append(g.Parents, id("grp", outer))
		}
		allGroups = append(allGroups, g)
		in = append(in, snapshot.Membership{GroupID: g.ID})
	}
	var all []snapshot.User
	for n := range users {
		all = append(all, snapshot.User{
			ID:          id("usr", n),
			Name:        long,
			UserName:    long,
			Email:       strings.Repeat("\x7f", 242) + "@example.com",
			Memberships: in,
		})
	}
	return sourceOf(allGroups, all)
}

// Requests of the longest users and groups have less than 1 MB, in whatever proportion.
func TestBulk_bounds(t *testing.T) {
	t.Parallel()
	largest := 0
	for groups := 0; groups <= PerPiece; groups += 5 {
		bulk := &Bulk{Source: atLimits(PerPiece-groups, groups)}
		var out strings.Builder
		if err := bulk.Write(t.Context(), &out, 0); err != nil || bulk.Pieces() != 1 {
			t.Fatalf("%d requests: %v", bulk.Pieces(), err)
		}
		bulk.Close()
		largest = max(largest, out.Len())
	}
	if largest >= 1_000_000 || largest < 700_000 {
		t.Errorf("the largest request has %d bytes, want less than 1 MB, and not far less", largest)
	}
}

func TestBulk_pieces(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ users, groups, pieces int }{
		{0, 0, 0}, {0, 3, 1}, {PerPiece, 0, 1}, {PerPiece - 2, 2, 1}, {PerPiece, 2, 2}, {2*PerPiece - 1, 3, 3},
		{PerPiece, PerPiece, 2}, {3, 2 * PerPiece, 3},
	} {
		t.Run(fmt.Sprintf("%d users and %d groups", c.users, c.groups), func(t *testing.T) {
			t.Parallel()
			s := atLimits(c.users, c.groups)
			files := filesOf(t, s)
			var created []string
			for n := range c.pieces {
				text, have := files[fmt.Sprintf("bulk %d", n)]
				if !have {
					t.Fatalf("no request %d", n)
				}
				created = append(created, createdBy(t, text, c.pieces == 1)...)
				again := &Bulk{Source: s} // not after those before it
				var out strings.Builder
				if err := again.Write(t.Context(), &out, n); err != nil || out.String() != text {
					t.Errorf("request %d differs when it is written alone: %v", n, err)
				}
				again.Close()
			}
			if len(files) != c.pieces+2 || len(created) != c.users+c.groups {
				t.Errorf("%d files, %d operations", len(files), len(created))
			}
		})
	}
}

// createdBy returns what a request creates. Its members have been created before them.
func createdBy(t *testing.T, text string, filled bool) []string {
	t.Helper()
	var request struct {
		Operations []struct {
			Method, Path, BulkID string
			Data                 struct {
				ID, ExternalID string
				Members        []member
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &request); err != nil {
		t.Fatal(err)
	}
	var created []string
	seen := map[string]string{}
	for _, o := range request.Operations {
		if o.Method != "POST" || o.BulkID != o.Data.ExternalID || o.Data.ID != "" {
			t.Errorf("operation %+v", o)
		}
		if want := len(seen); o.Path == "/Groups" && filled && len(o.Data.Members) != want {
			t.Errorf("%s has %d members, want %d", o.BulkID, len(o.Data.Members), want)
		}
		for _, m := range o.Data.Members {
			if !filled || seen[m.Value] != "/"+m.Type+"s" {
				t.Errorf("%s has the member %+v", o.BulkID, m)
			}
		}
		seen["bulkId:"+o.BulkID] = o.Path
		created = append(created, o.BulkID)
	}
	return created
}

func TestBulk_count(t *testing.T) {
	t.Parallel()
	for _, wrong := range []int64{-1, 1} {
		s := atLimits(PerPiece+5, 0)
		s.Tenant.Directory.Users += wrong
		bulk := &Bulk{Source: s}
		var err error
		for n := range bulk.Pieces() {
			if err = bulk.Write(t.Context(), &strings.Builder{}, n); err != nil {
				break
			}
		}
		bulk.Close()
		if err == nil || !strings.Contains(err.Error(), " users") {
			t.Errorf("%+d users: %v", wrong, err)
		}
	}
}
