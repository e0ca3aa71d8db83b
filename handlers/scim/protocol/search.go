package protocol

import "encoding/json"

// Query is a request for several resources: the parameters of a GET, or the body of a POST to .search (RFC 7644, 3.4.2
// and 3.4.3).
type Query struct {
	Filter     string
	StartIndex *int // nil: the first
	Count      *int // nil: as many as a page has
	Show       Projection
	Unkept     []string // members that have no effect
}

// ParseSearch parses a SearchRequest. Resources are not sorted, which ServiceProviderConfig announces: sortBy and
// sortOrder have no effect.
func ParseSearch(raw []byte) (Query, error) {
	var in struct {
		Schemas            []string        `json:"schemas"`
		Attributes         []string        `json:"attributes"`
		ExcludedAttributes []string        `json:"excludedAttributes"`
		Filter             string          `json:"filter"`
		StartIndex         *int            `json:"startIndex"`
		Count              *int            `json:"count"`
		SortBy             json.RawMessage `json:"sortBy"`
		SortOrder          json.RawMessage `json:"sortOrder"`
	}
	if err := unmarshalKnown(raw, &in); err != nil {
		return Query{}, invalid("invalidSyntax", "The body isn't a SearchRequest: a JSON object with attributes, "+
			"excludedAttributes, filter, startIndex and count.")
	}
	show, err := ParseProjection(in.Attributes, in.ExcludedAttributes)
	out := Query{Filter: in.Filter, StartIndex: in.StartIndex, Count: in.Count, Show: show}
	if in.SortBy != nil || in.SortOrder != nil {
		out.Unkept = []string{"sortBy", "sortOrder"}
	}
	return out, err
}
