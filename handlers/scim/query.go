package scim

import (
	"net/http"
	"strconv"

	"postern/handlers/scim/protocol"
	"postern/models"
)

// query returns the parameters of a GET. They are the same as in the body of a search.
func (p *provisioner) query() (protocol.Query, error) {
	out := protocol.Query{Filter: p.c.Query("filter"), Show: p.show}
	for _, name := range []string{"filter", "startIndex", "count"} {
		if len(p.c.QueryArray(name)) > 1 {
			return out, &protocol.Error{
				Status: http.StatusBadRequest,
				Type:   "invalidValue",
				Detail: "Send " + name + " only once.",
			}
		}
	}
	for name, into := range map[string]**int{"startIndex": &out.StartIndex, "count": &out.Count} {
		text := p.c.Query(name)
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(text)
		if err != nil {
			return out, &protocol.Error{
				Status: http.StatusBadRequest,
				Type:   "invalidValue",
				Detail: name + " must be a number.",
			}
		}
		*into = &n
	}
	return out, nil
}

// pageOf returns startIndex, which begins at 1, and count (RFC 7644, 3.4.2.4). A number out
// of range becomes the nearest one, an absent one the default.
func pageOf(q protocol.Query) (start, count int) {
	start, count = 1, models.MaxLimit
	if q.StartIndex != nil {
		start = max(*q.StartIndex, 1)
	}
	if q.Count != nil {
		count = min(max(*q.Count, 0), models.MaxLimit)
	}
	return start, count
}

// search answers a POST to .search with what list returns for its body.
func (p *provisioner) search(list func(protocol.Query, int, int) ([]any, int64, error)) (any, error) {
	q, err := parsed(p, protocol.ParseSearch)
	if err != nil {
		return nil, err
	}
	p.show, p.unkept = q.Show, q.Unkept
	return p.list(q, list)
}

// list returns a page of the resources that find returns, each with the requested
// attributes.
func (p *provisioner) list(
	q protocol.Query, find func(protocol.Query, int, int) ([]any, int64, error),
) (any, error) {
	start, count := pageOf(q)
	found, total, err := find(q, start-1, count)
	if err != nil {
		return nil, err
	}
	for i := range found {
		if found[i], err = p.show.Apply(found[i]); err != nil {
			return nil, err
		}
	}
	return protocol.NewList(found, start, total), nil
}

func (p *provisioner) searchUsers() (any, error)  { return p.search(p.findUsers) }
func (p *provisioner) searchGroups() (any, error) { return p.search(p.findGroups) }
func (p *provisioner) searchAll() (any, error)    { return p.search(p.findAll) }

// findAll finds users, and then groups. An attribute that only one of the two has matches
// none of the other (RFC 7644, 3.4.2.1).
func (p *provisioner) findAll(q protocol.Query, skip, limit int) ([]any, int64, error) {
	terms, err := protocol.ParseFilter(q.Filter)
	if err != nil {
		return nil, 0, err
	}
	var out []any
	var all int64
	fits := false
	for _, kind := range []struct {
		find func(protocol.Query, int, int) ([]any, int64, error)
		fits func([]protocol.Term) error
	}{
		{p.findUsers, func(terms []protocol.Term) error { _, _, err := userFilter(terms); return err }},
		{p.findGroups, func(terms []protocol.Term) error { _, _, err := groupFilter(terms); return err }},
	} {
		if refusal := kind.fits(terms); refusal != nil {
			err = refusal
			continue
		}
		fits = true
		found, total, err := kind.find(q, max(skip-int(all), 0), limit-len(out))
		if err != nil {
			return nil, 0, err
		}
		out, all = append(out, found...), all+total
	}
	if !fits {
		return nil, 0, err
	}
	return out, all, nil
}
