package scim

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"postern/bundle/jsonfile"
	"postern/core/snapshot"
)

// membersHeld limits the memory for memberships, in bytes. A million need about 50 MB. If there are more, they are read
// in several passes over the users.
const membersHeld = 16 << 20

// innerFirst sorts the groups so that each comes after the groups that it contains.
func innerFirst(all []snapshot.Group) []*snapshot.Group {
	inner := innerOf(all)
	out := make([]*snapshot.Group, 0, len(all))
	seen := make(map[string]bool, len(all))
	var visit func(*snapshot.Group)
	visit = func(g *snapshot.Group) {
		if seen[g.ID] {
			return
		}
		seen[g.ID] = true
		for _, child := range inner[g.ID] {
			visit(child)
		}
		out = append(out, g)
	}
	for i := range all {
		visit(&all[i])
	}
	return out
}

// innerOf returns the groups that are in each group, by its id.
func innerOf(all []snapshot.Group) map[string][]*snapshot.Group {
	inner := map[string][]*snapshot.Group{}
	for i := range all {
		for _, parent := range all[i].Parents {
			inner[parent] = append(inner[parent], &all[i])
		}
	}
	return inner
}

// WriteGroups writes the list of groups with their members, each after those that are in it. It reads the users several
// times if the members need more than membersHeld.
func (s Source) WriteGroups(ctx context.Context, w io.Writer) error {
	return s.writeGroups(ctx, w, membersHeld)
}

func (s Source) writeGroups(ctx context.Context, w io.Writer, held int) error {
	out := jsonfile.NewStream(w)
	beginList(out, int64(len(s.Tenant.Directory.Groups)))
	g := &groupList{
		out:    out,
		groups: innerFirst(s.Tenant.Directory.Groups),
		inner:  innerOf(s.Tenant.Directory.Groups),
		at:     map[string]int{},
		limit:  held,
	}
	for i, one := range g.groups {
		g.at[one.ID] = i
	}
	for g.from < len(g.groups) {
		if err := g.pass(ctx, s); err != nil {
			return err
		}
	}
	out.Raw("\n  ]\n}\n")
	return out.Close()
}

// groupList writes the groups one after the other.
type groupList struct {
	out    *jsonfile.Stream
	groups []*snapshot.Group
	inner  map[string][]*snapshot.Group // by the id of the group that they are in
	at     map[string]int               // positions in groups, by id
	limit  int

	from    int      // groups before it are written
	to      int      // the members of the groups from this one on are left to the next pass
	members [][]byte // of the groups in [from, to), packed
	held    int      // their bytes
	begun   bool     // the first members of the group at from are written
	listed  bool     // the group that is being written has a member
}

// pass reads the users once, and writes as many groups as fit into memory with their members.
func (g *groupList) pass(ctx context.Context, s Source) error {
	g.to, g.held, g.begun = len(g.groups), 0, false
	g.members = make([][]byte, g.to-g.from)
	for u, err := range s.Users(ctx) {
		if err != nil {
			return err
		}
		for _, m := range u.Memberships {
			at, known := g.at[m.GroupID]
			if !known {
				return fmt.Errorf("scim: user %s is in group %s, which isn't in tenant %s",
					u.ID, m.GroupID, s.Tenant.Name)
			}
			if at >= g.from && at < g.to {
				g.add(at, u)
			}
		}
	}
	for i := range g.members {
		if !g.begun {
			g.begin(i)
		}
		g.begun = false
		g.write(g.members[i])
		g.end(g.groups[g.from+i])
	}
	g.from = g.to
	g.members = nil
	return nil
}

// add keeps a member. If there are too many, the last groups are left to the next pass. If one group alone has too
// many, the members so far are written.
func (g *groupList) add(at int, u *snapshot.User) {
	i := at - g.from
	before := len(g.members[i])
	g.members[i] = packMember(g.members[i], u)
	g.held += len(g.members[i]) - before
	for g.held > g.limit && g.to > g.from+1 {
		g.to--
		last := g.to - g.from
		g.held -= len(g.members[last])
		g.members = g.members[:last]
	}
	if g.held <= g.limit {
		return
	}
	if !g.begun {
		g.begin(0)
		g.begun = true
	}
	g.write(g.members[0])
	g.members[0], g.held = g.members[0][:0], 0
}

// begin writes the group at position from + i up to its first member.
func (g *groupList) begin(i int) {
	of := g.groups[g.from+i]
	one := newGroup(of)
	one.ID, one.Meta = of.ID, metaOf("Group", "Groups/"+of.ID, of.CreatedAt, of.UpdatedAt)
	g.out.Next("    ")
	text, err := jsonfile.Encode(one)
	if err != nil {
		g.out.Fail(err)
		return
	}
	g.out.Raw(string(text[:len(text)-len("}")]))
	g.listed = false
}

func (g *groupList) write(packed []byte) {
	for len(packed) > 0 {
		var id, display string
		id, packed = unpackText(packed)
		display, packed = unpackText(packed)
		g.member(userMember(id, display))
	}
}

func (g *groupList) member(m member) {
	if g.listed {
		g.out.Raw(",\n      ")
	} else {
		g.out.Raw(",\"members\":[\n      ")
	}
	g.listed = true
	g.out.Value(m)
}

func (g *groupList) end(of *snapshot.Group) {
	for _, child := range g.inner[of.ID] {
		g.member(groupMember(child))
	}
	if g.listed {
		g.out.Raw("\n    ]")
	}
	g.out.Raw("}")
}

func packMember(onto []byte, u *snapshot.User) []byte {
	return packText(packText(onto, u.ID), memberName(u))
}

// memberName returns the name of a user in a group.
func memberName(u *snapshot.User) string {
	switch {
	case u.Name != "":
		return u.Name
	case u.Email != "":
		return u.Email
	}
	return u.UserName
}

func packText(onto []byte, text string) []byte {
	return append(binary.AppendUvarint(onto, uint64(len(text))), text...)
}

func unpackText(packed []byte) (text string, rest []byte) {
	n, size := binary.Uvarint(packed)
	end := size + int(n)
	return string(packed[size:end]), packed[end:]
}
