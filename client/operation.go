package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"reflect"
	"strings"
	"time"

	"postern/core/contract"
)

// Do carries out an operation of the contract.
func Do[In, Out any](ctx context.Context, c *Client, op *contract.Op[In, Out], in In) (Out, error) {
	var out Out
	err := c.do(ctx, &op.Operation, in, &out)
	return out, err
}

// do is Do for the types that in and into have. It isn't generic, because that would be compiled for each operation.
func (c *Client) do(ctx context.Context, op *contract.Operation, in, into any) error {
	r := requestOf(op.Path, in)
	if r.etag != "" {
		c = c.IfMatch(r.etag)
	}
	response, err := c.send(ctx, op.Method, r.body, r.query(), r.segments)
	if err != nil {
		return err
	}
	if _, ok := into.(*contract.None); ok {
		return response.Body.Close()
	}
	return c.decode(response, into)
}

// Each iterates over the items of a list, page by page. It ends after the first error.
func Each[In, Item any](
	ctx context.Context, c *Client, op *contract.Op[In, contract.List[Item]], in In,
) iter.Seq2[Item, error] {
	r := requestOf(op.Path, in)
	return pagesOf[Item](ctx, c, r.values, r.segments...)
}

// request is the HTTP request of an operation.
type request struct {
	segments []string // of the path
	values   url.Values
	body     any // nil: none
	etag     string
}

func (r request) query() string {
	if len(r.values) == 0 {
		return ""
	}
	return "?" + r.values.Encode()
}

// requestOf puts the members of in where they belong. Members of the query without a value are left out.
func requestOf(path string, in any) request {
	out, params := request{values: url.Values{}}, map[string]string{}
	from := reflect.ValueOf(in)
	for _, m := range contract.MembersOf(from.Type()) {
		if m.Place == contract.InBody { // which is sent as a whole
			if body := from.FieldByName("Body"); body.Kind() != reflect.Pointer || !body.IsNil() {
				out.body = body.Interface()
			}
			continue
		}
		switch value := from.FieldByIndex(m.Index); m.Place {
		case contract.InPath:
			params[m.Name] = value.String()
		case contract.InQuery:
			if !value.IsZero() || m.Zero {
				out.values[m.Name] = queryValues(value)
			}
		default: // If-Match is the only header
			out.etag = value.String()
		}
	}
	if raw := from.FieldByName("RawBody"); raw.IsValid() {
		out.body = json.RawMessage(raw.Bytes())
	}
	for segment := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if name, ok := strings.CutPrefix(segment, "{"); ok {
			segment = params[strings.TrimSuffix(name, "}")]
		}
		out.segments = append(out.segments, segment)
	}
	return out
}

// queryValues returns a member in the form of the query: a list as one value for each element, a time as in RFC 3339.
func queryValues(value reflect.Value) []string {
	switch of := value.Interface().(type) {
	case []string:
		return of
	case time.Time:
		return []string{of.UTC().Format(time.RFC3339Nano)}
	default:
		return []string{fmt.Sprint(of)}
	}
}
