package api

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"postern/handlers/web"
	"postern/platform/fault"
)

// problemInContext is frameworkProblem with the id of the request.
func problemInContext(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	p := frameworkProblem(status, message, errs...)
	if ctx != nil {
		return web.ProblemOf(p, web.RequestID(ctx.Context()))
	}
	return p
}

// frameworkProblem shapes what huma itself refuses: bodies that are no JSON, do
// not fit the schema or are too large, and queries that do not fit. The refused
// values are not repeated; they may be secrets.
func frameworkProblem(status int, message string, errs ...error) huma.StatusError {
	if status == http.StatusBadRequest && len(errs) > 0 {
		if refusal, ok := web.BodyRefusal(saidBy(errs[0]).Message); ok {
			return web.ProblemOf(refusal, "")
		}
	}
	p := &web.Problem{
		Type:   "about:blank",
		Title:  http.StatusText(status),
		Status: status,
		Detail: message,
		Code:   frameworkCode(status),
	}
	for _, err := range errs[:min(len(errs), fault.MaxFields)] {
		p.Errors = append(p.Errors, frameworkField(err))
	}
	switch {
	case status == http.StatusBadRequest && len(errs) > 0:
		p.Detail = "The body is not valid JSON: " + saidBy(errs[0]).Message
		p.Errors = nil
	case status == http.StatusBadRequest && message == "request body is required":
		p.Detail = "The body is empty. Send a JSON object."
	case status == http.StatusRequestEntityTooLarge:
		p.Detail = "The body is larger than 1 MiB."
	case status == http.StatusUnsupportedMediaType:
		p.Detail, p.Errors = "Send the body as application/json.", nil
	case len(p.Errors) == 1:
		p.Detail, p.Code = p.Errors[0].Detail, p.Errors[0].Code
	case len(errs) > len(p.Errors):
		p.Detail = fmt.Sprintf("%d fields are not valid. The first %d are listed.", len(errs), len(p.Errors))
	case len(p.Errors) > 1:
		p.Detail = "Several fields are not valid."
	}
	return p
}

func frameworkCode(status int) string {
	switch status {
	case http.StatusBadRequest:
		return "malformed"
	case http.StatusRequestEntityTooLarge:
		return "too_large"
	case http.StatusUnsupportedMediaType:
		return "unsupported_media_type"
	case http.StatusUnprocessableEntity:
		return "invalid_fields"
	}
	return strings.ToLower(strings.ReplaceAll(http.StatusText(status), " ", "_"))
}

// saidBy is what huma says of one field.
func saidBy(err error) huma.ErrorDetail {
	var detailer huma.ErrorDetailer // no error itself
	if errors.As(err, &detailer) {
		return *detailer.ErrorDetail()
	}
	return huma.ErrorDetail{Message: "it is not valid"}
}

func frameworkField(err error) web.ProblemField {
	said := saidBy(err)
	field := web.ProblemField{Pointer: pointerOf(said.Location)}
	if name, ok := strings.CutPrefix(said.Message, "expected required property "); ok {
		name, _, _ = strings.Cut(name, " ")
		field.Pointer += "/" + name
	}
	if into, ok := strings.CutPrefix(said.Message, "json: cannot unmarshal number "); ok {
		// What the schema lets through as a whole number and no int64 can hold, such
		// as 1e30. The reader names the field by its path in ours: limits.minute.
		_, path, _ := strings.Cut(into, "Go struct field ")
		path, _, _ = strings.Cut(path, " ")
		_, path, _ = strings.Cut(path, ".")
		field.Pointer = "/" + strings.ReplaceAll(path, ".", "/")
	}
	known := mendOf(said.Message)
	field.Code, field.Detail = known.code, known.text
	return field
}

// mend is a stable code and what to do.
type mend struct{ code, text string }

// mends says in our words what huma's mean.
var mends = map[string]mend{
	validation.MsgUnexpectedProperty: {"unknown_field", "This field is not known here. Check its " +
		"spelling, or leave it out."},
	validation.MsgExpectedRFC3339DateTime: {"invalid_value", "Use a time such as 2030-01-31T12:00:00Z (RFC 3339)."},
	validation.MsgExpectedMatchExactlyOneSchema: {"invalid_type", "Use one of the forms that the API's description " +
		"has for this field."},
	validation.MsgExpectedBoolean: {"invalid_type", "Use true or false."},
	"invalid boolean":             {"invalid_type", "Use true or false."},
	validation.MsgExpectedInteger: {"invalid_type", "Use a whole number."},
	"invalid integer":             {"invalid_type", "Use a whole number."},
	validation.MsgExpectedNumber:  {"invalid_type", "Use a number."},
	validation.MsgExpectedString:  {"invalid_type", "Use a string."},
	validation.MsgExpectedArray:   {"invalid_type", "Use an array."},
	validation.MsgExpectedObject:  {"invalid_type", "Use an object."},
}

// leading are those of mends that huma completes: by what follows from it, %, too.
var leading = map[string]mend{
	"invalid date/time ":             {"invalid_value", "Use a time such as 2030-01-31T12:00:00Z (RFC 3339)."},
	"json: cannot unmarshal number ": {"out_of_range", "Use a whole number of at most 15 digits."},
	"expected required property ":    {"required", "This field is required."},
	"required ":                      {"required", "This field is required."},
	"expected value to be one of ":   {"invalid_value", "Use one of %."},
	"expected number >= ":            {"out_of_range", "Use no number below %."},
	"expected number <= ":            {"out_of_range", "Use no number above %."},
}

func mendOf(message string) mend {
	if known, ok := mends[message]; ok {
		return known
	}
	for begins, known := range leading {
		if rest, ok := strings.CutPrefix(message, begins); ok {
			return mend{known.code, strings.ReplaceAll(known.text, "%", strings.Trim(rest, `"`))}
		}
	}
	return mend{"invalid_value", "This value does not fit: " + message + "."}
}

// pointerOf turns huma's location (body.a.b[3], query.limit) into a JSON Pointer;
// what stands in the query or in a header is named like a member of the body.
func pointerOf(location string) string {
	in, rest, _ := strings.Cut(location, ".")
	if in != "body" && in != "query" && in != "header" && in != "path" {
		return location
	}
	if rest == "" {
		return ""
	}
	rest = strings.NewReplacer("~", "~0", "/", "~1").Replace(rest)
	return "/" + strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(rest)
}
