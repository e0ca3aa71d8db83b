package protocol

import "encoding/json"

// Query is what a request for several resources asks for: the parameters of a GET, or the
// body of a POST to .search (RFC 7644, 3.4.2 and 3.4.3).
type Query struct {
	Filter     string
	StartIndex *int // nil: the first
	Count      *int // nil: as many as a page has
	Show       Projection
}

// ParseSearch parses a SearchRequest. Resources are not sorted: sortBy and sortOrder are
// ignored, which ServiceProviderConfig announces.
func ParseSearch(raw []byte) (Query, error) {
	var in struct {
		Attributes         []string `json:"attributes"`
		ExcludedAttributes []string `json:"excludedAttributes"`
		Filter             string   `json:"filter"`
		StartIndex         *int     `json:"startIndex"`
		Count              *int     `json:"count"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return Query{}, invalid("invalidSyntax", "The body is not a SearchRequest in JSON.")
	}
	show, err := ParseProjection(in.Attributes, in.ExcludedAttributes)
	return Query{Filter: in.Filter, StartIndex: in.StartIndex, Count: in.Count, Show: show}, err
}
