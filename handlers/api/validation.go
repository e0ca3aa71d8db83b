package api

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"

	"postern/handlers/web"
	"postern/platform/fault"
)

// problemInContext is frameworkProblem with the request's id.
func problemInContext(ctx huma.Context, status int, message string, errs ...error) huma.StatusError {
	p := frameworkProblem(status, message, errs...)
	if ctx != nil {
		return web.ProblemOf(p, web.RequestID(ctx.Context()))
	}
	return p
}

// frameworkProblem returns the problem for a request that huma refuses: a body that is not
// JSON, does not match the schema or is too large, or an invalid query. It does not repeat
// the refused values, which may be secrets.
func frameworkProblem(status int, message string, errs ...error) huma.StatusError {
	if status == http.StatusBadRequest { // of the body, next to parameters that are wrong too
		errs = slices.DeleteFunc(slices.Clone(errs), func(err error) bool {
			return strings.HasPrefix(detailOf(err).Location, "query.")
		})
	}
	if status == http.StatusBadRequest && len(errs) > 0 {
		if refusal, ok := web.BodyRefusal(detailOf(errs[0]).Message); ok {
			p := web.ProblemOf(refusal, "")
			for i := range p.Errors {
				p.Errors[i].In = inBody
			}
			return p
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
		p.Detail = "The body isn't valid JSON: " + detailOf(errs[0]).Message
		p.Errors = nil
	case status == http.StatusBadRequest && message == "request body is required":
		p.Detail = "The body is empty. Send a JSON object."
	case status == http.StatusRequestEntityTooLarge:
		p.Detail = "The request body is larger than 1 MiB, or its OpenAPI document is larger than 16 MB."
	case status == http.StatusUnsupportedMediaType:
		p.Detail, p.Errors = "Send the body as application/json.", nil
	case len(p.Errors) == 1:
		p.Detail, p.Code = p.Errors[0].Detail, p.Errors[0].Code
	case len(errs) > len(p.Errors):
		p.Detail = fmt.Sprintf("%d fields aren't valid. The first %d are listed.", len(errs), len(p.Errors))
	case len(p.Errors) > 1:
		p.Detail = "Several fields aren't valid."
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

// detailOf returns huma's description of an error.
func detailOf(err error) huma.ErrorDetail {
	var detailer huma.ErrorDetailer // which is not an error type
	if errors.As(err, &detailer) {
		return *detailer.ErrorDetail()
	}
	return huma.ErrorDetail{Message: "it isn't valid"}
}

func frameworkField(err error) web.ProblemField {
	detail := detailOf(err)
	field := web.ProblemField{In: placeIn(detail.Location), Pointer: pointerOf(detail.Location)}
	if name, ok := strings.CutPrefix(detail.Message, "expected required property "); ok {
		name, _, _ = strings.Cut(name, " ")
		field.Pointer += "/" + name
	}
	if into, ok := strings.CutPrefix(detail.Message, "json: cannot unmarshal number "); ok {
		// The schema accepts a whole number such as 1e30, which no int64 can hold. The
		// decoder names the field by its path: limits.minute.
		_, path, _ := strings.Cut(into, "Go struct field ")
		path, _, _ = strings.Cut(path, " ")
		_, path, _ = strings.Cut(path, ".")
		field.Pointer = "/" + strings.ReplaceAll(path, ".", "/")
	}
	advice := adviceFor(detail.Message)
	field.Code, field.Detail = advice.code, advice.text
	if _, null := detail.Value.(misplacedNull); null {
		field.Detail = strings.TrimSuffix(field.Detail, ".") + ", not null."
		if detail.Message == validation.MsgExpectedArray {
			field.Detail += " An empty array is []."
		}
	}
	return field
}

// advice is the error code of a field and a text with the fix.
type advice struct{ code, text string }

// messages has the advice for huma's messages.
var messages = map[string]advice{
	validation.MsgUnexpectedProperty:      {"unknown_field", "Unknown field. Check its spelling, or leave it out."},
	validation.MsgExpectedRFC3339DateTime: {"invalid_value", "Use a time such as 2030-01-31T12:00:00Z (RFC 3339)."},
	validation.MsgExpectedMatchExactlyOneSchema: {
		"invalid_type", "Use one of the forms that /openapi.json describes for this field.",
	},
	msgNoBoolean:   {"empty", "Use true or false, or omit the parameter."},
	msgRepeated:    {"repeated_parameter", "Send this parameter once."},
	msgOnePage:     {"one_page", "This list has only one page. Leave this parameter out."},
	msgNoCondition: {"condition_not_checked", "This operation doesn't support conditions. Leave this header out."},
	msgNoBody:      {"unexpected_body", "This operation has no request body. Leave it out."},

	emptyText: {"required", "This field can't be empty. Set a value, or leave it out if it is optional."},

	validation.MsgExpectedBoolean: {"invalid_type", "Use true or false."},
	"invalid boolean":             {"invalid_type", "Use true or false."},
	validation.MsgExpectedInteger: {"invalid_type", "Use a whole number."},
	"invalid integer":             {"invalid_type", "Use a whole number."},
	validation.MsgExpectedNumber:  {"invalid_type", "Use a number."},
	validation.MsgExpectedString:  {"invalid_type", "Use a string."},
	validation.MsgExpectedArray:   {"invalid_type", "Use an array."},
	validation.MsgExpectedObject:  {"invalid_type", "Use an object."},
}

// emptyText is huma's message about an empty text where the schema has a minLength of 1.
var emptyText = fmt.Sprintf(validation.MsgExpectedMinLength, 1)

// expectedOneOf begins huma's message about a value that isn't in the enum. The enum follows it.
const expectedOneOf = "expected value to be one of "

// prefixes has the advice for messages that continue after the prefix. The continuation
// replaces % in the text.
var prefixes = map[string]advice{
	"invalid date/time ":             {"invalid_value", "Use a time such as 2030-01-31T12:00:00Z (RFC 3339)."},
	"json: cannot unmarshal number ": {"out_of_range", "Use a whole number of at most 15 digits."},
	"expected required property ":    {"required", "This field is required."},
	"required ":                      {"required", "This field is required."},
	expectedOneOf:                    {"invalid_value", "Use one of %."},
	"expected number >= ":            {"out_of_range", "Use a number of at least %."},
	"expected number <= ":            {"out_of_range", "Use a number of at most %."},
}

func adviceFor(message string) advice {
	if found, ok := messages[message]; ok {
		return found
	}
	if values, ok := strings.CutPrefix(message, expectedOneOf); ok {
		if few := strings.Split(strings.Trim(values, `"`), ", "); len(few) == 2 || len(few) == 3 {
			last := len(few) - 1
			return advice{"invalid_value", "Use " + strings.Join(few[:last], ", ") + " or " + few[last] + "."}
		}
	}
	for prefix, found := range prefixes {
		if rest, ok := strings.CutPrefix(message, prefix); ok {
			return advice{found.code, strings.ReplaceAll(found.text, "%", strings.Trim(rest, `"`))}
		}
	}
	return advice{"invalid_value", "This value isn't valid: " + message + "."}
}

// inBody is the place of what isn't a parameter.
const inBody = "body"

// placeIn returns the place that a location of huma (body.a.b[3], query.limit) begins with, "" if it names no place.
func placeIn(location string) string {
	in, _, _ := strings.Cut(location, ".")
	if i := strings.IndexByte(in, '['); i >= 0 {
		in = in[:i]
	}
	switch in {
	case inBody, "query", "header", "path":
		return in
	}
	return ""
}

// pointerOf converts a location of huma to a JSON Pointer. Parameters of the query and headers are named like members
// of the body.
func pointerOf(location string) string {
	in := placeIn(location)
	if in == "" {
		return location
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(location, in), ".")
	if rest == "" {
		return ""
	}
	rest = strings.NewReplacer("~", "~0", "/", "~1").Replace(rest)
	rest = strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(rest)
	return "/" + strings.TrimPrefix(rest, "/")
}
