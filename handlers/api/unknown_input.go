package api

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humagin"
	"github.com/danielgtaylor/huma/v2/validation"

	"postern/models"
)

// The errors about input that an operation would ignore. messages has the texts for callers.
const (
	msgRepeated    = "the parameter is repeated"
	msgNoBoolean   = "the parameter is empty"
	msgOnePage     = "the list has one page"
	msgNoCondition = "the operation does not check the condition"
	msgNoBody      = "the operation takes no body"
)

// unknownInput returns an error for all that a request has and its operation would ignore. A misspelled filter must
// not look like one that matches everything, nor a condition like one that held.
func unknownInput(ctx huma.Context) []error {
	at := ctx.URL()
	query := at.Query()
	var unknown []error
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if wrong := unknownParameter(ctx.Operation(), name, query); wrong != "" {
			unknown = append(unknown, &huma.ErrorDetail{Location: "query." + name, Message: wrong})
		}
	}
	if ctx.Method() != http.MethodGet {
		for _, name := range []string{"If-Match", "If-None-Match", "If-Unmodified-Since"} {
			if ctx.Header(name) != "" && parameter(ctx.Operation(), "header", name) == nil {
				unknown = append(unknown, &huma.ErrorDetail{
					Location: "header." + name,
					Message:  msgNoCondition,
				})
			}
		}
	}
	if ctx.Operation().RequestBody == nil && hasBody(humagin.Unwrap(ctx).Request) {
		unknown = append(unknown, &huma.ErrorDetail{Location: "body", Message: msgNoBody})
	}
	return unknown
}

func parameter(of *huma.Operation, in, name string) *huma.Param {
	i := slices.IndexFunc(of.Parameters, func(p *huma.Param) bool { return p.In == in && p.Name == name })
	if i < 0 {
		return nil
	}
	return of.Parameters[i]
}

// unknownParameter says why an operation would ignore a parameter of the query or a part of it, "" if it would not.
func unknownParameter(of *huma.Operation, name string, query url.Values) string {
	declared := parameter(of, "query", name)
	switch {
	case declared == nil && name == "limit" && isList(of) && query.Get(name) == strconv.Itoa(models.MaxLimit):
		return "" // a list that always has one page; clients send the same limit for every list
	case declared == nil && (name == "limit" || name == "cursor") && isList(of):
		return msgOnePage
	case declared == nil:
		return validation.MsgUnexpectedProperty
	case len(query[name]) > 1 && (declared.Explode == nil || !*declared.Explode):
		return msgRepeated
	case isBoolean(declared) && query.Get(name) == "":
		return msgNoBoolean // an empty variable of a script must not look like false
	}
	return ""
}

func isBoolean(declared *huma.Param) bool {
	return declared != nil && declared.Schema != nil && declared.Schema.Type == huma.TypeBoolean
}

// spellOut sets the boolean parameters to true that a request has without a value: ?dry_run is ?dry_run=true. Other
// code would take them for empty, and so for false.
func spellOut(of *huma.Operation, at *url.URL) {
	parts := strings.Split(at.RawQuery, "&")
	for i, part := range parts {
		if name, err := url.QueryUnescape(part); err == nil && isBoolean(parameter(of, "query", name)) {
			parts[i] += "=true"
		}
	}
	at.RawQuery = strings.Join(parts, "&")
}

// isList reports whether the answer to an operation has items.
func isList(of *huma.Operation) bool {
	return of.Method == http.MethodGet && strings.HasPrefix(of.OperationID, "list-")
}

// hasBody reports whether a request has a body that says something. Some clients send an empty object with every
// request.
func hasBody(r *http.Request) bool {
	if r.ContentLength == 0 || r.Body == nil {
		return false
	}
	const most = 64
	text, err := io.ReadAll(io.LimitReader(r.Body, most))
	text = bytes.TrimSpace(text)
	return err != nil || len(text) > 0 && string(text) != "{}" && string(text) != "null"
}
