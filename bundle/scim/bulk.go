package scim

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// PerPiece is the number of operations in a bulk request. The number of requests depends only on the number of users
// and groups, so PerPiece is small enough that a request with the longest users that service/directory accepts has less
// than 1 MB: RFC 7644 (3.7.3) lets a receiver refuse larger ones, and many accept no more than 1,000 operations and 1
// MB.
const PerPiece = 125

// Bulk writes the bulk requests (RFC 7644, 3.7) that create the users and groups of a tenant. They are written in order
// from one pass over the users, which Close ends.
//
// A member that the same request creates is named by its bulkId. A member from an earlier request can't be named,
// because only the receiver knows its ID. So groups have members if there is one request, and none if there are
// several.
type Bulk struct {
	Source

	next func() (*snapshot.User, error, bool)
	stop func()
	at   int // the piece that the pass has reached
}

// operation is a BulkRequest operation.
type operation struct {
	Method string `json:"method"`
	Path   string `json:"path"`
	BulkID string `json:"bulkId"`
	Data   any    `json:"data"`
}

// Pieces returns the number of requests.
func (b *Bulk) Pieces() int { return int((b.operations() + PerPiece - 1) / PerPiece) }

func (b *Bulk) operations() int64 {
	return b.Tenant.Directory.Users + int64(len(b.Tenant.Directory.Groups))
}

// Write writes the request n, counted from 0.
func (b *Bulk) Write(ctx context.Context, w io.Writer, n int) error {
	if err := b.seek(ctx, n); err != nil {
		return err
	}
	out := jsonfile.NewStream(w)
	out.Raw("{\n  \"schemas\": ")
	out.Value([]string{bulkSchema})
	out.Raw(",\n  \"Operations\": ")
	out.Open("[")
	users, from := b.Tenant.Directory.Users, int64(n)*PerPiece
	members := membersOf{}
	for i := from; i < min(from+PerPiece, users); i++ {
		u, err := b.user()
		if err != nil {
			return err
		}
		out.Next("    ")
		out.Value(operation{"POST", "/Users", u.ID, newUser(u)})
		if b.Pieces() == 1 {
			members.add(u)
		}
	}
	if from+PerPiece >= users && from < users {
		if err := b.ended(); err != nil {
			return err
		}
	}
	if until := min(from+PerPiece, b.operations()); until > users {
		b.writeGroups(out, max(from, users)-users, until-users, members)
	}
	out.Raw("\n  ]\n}\n")
	b.at++
	return out.Close()
}

// writeGroups writes the groups in [from, to), with their members if there is one request.
func (b *Bulk) writeGroups(out *jsonfile.Stream, from, to int64, members membersOf) {
	inner := innerOf(b.Tenant.Directory.Groups)
	for _, g := range innerFirst(b.Tenant.Directory.Groups)[from:to] {
		one := newGroup(g)
		if b.Pieces() == 1 {
			one.Members = slices.Concat(members[g.ID], bulkGroups(inner[g.ID]))
		}
		out.Next("    ")
		out.Value(operation{"POST", "/Groups", g.ID, one})
	}
}

// membersOf has the users of groups, by the groups' ids.
type membersOf map[string][]member

func (m membersOf) add(u *snapshot.User) {
	for _, in := range u.Memberships {
		m[in.GroupID] = append(m[in.GroupID], member{Value: "bulkId:" + u.ID, Type: "User"})
	}
}

func bulkGroups(inner []*snapshot.Group) []member {
	var out []member
	for _, g := range inner {
		out = append(out, member{Value: "bulkId:" + g.ID, Type: "Group"})
	}
	return out
}

// seek moves the pass to the users of piece n, and starts a new pass if it is already past them.
func (b *Bulk) seek(ctx context.Context, n int) error {
	if b.next == nil || b.at > n {
		b.Close()
		b.next, b.stop = iter.Pull2(b.Users(ctx))
		b.at = 0
	}
	for ; b.at < n; b.at++ {
		for i := int64(b.at) * PerPiece; i < min(int64(b.at+1)*PerPiece, b.Tenant.Directory.Users); i++ {
			if _, err := b.user(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *Bulk) user() (*snapshot.User, error) {
	u, err, ok := b.next()
	if !ok && err == nil {
		err = fmt.Errorf("scim: tenant %s has fewer than %d users", b.Tenant.Name, b.Tenant.Directory.Users)
	}
	return u, err
}

// ended reads on after the last user.
func (b *Bulk) ended() error {
	_, err, more := b.next()
	if more && err == nil {
		err = fmt.Errorf("scim: tenant %s has more than %d users", b.Tenant.Name, b.Tenant.Directory.Users)
	}
	return err
}

// Close ends the pass over the users.
func (b *Bulk) Close() {
	if b.stop != nil {
		b.stop()
	}
	b.next, b.stop = nil, nil
}
