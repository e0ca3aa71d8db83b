package openapi

import (
	"strings"

	"postern/core/contract"
	"postern/core/openapi/tree"
)

// Document is a checked OpenAPI document.
type Document struct {
	Summary

	JSON []byte        // as it was sent, or made of YAML
	Tree tree.Document // the same, read
}

// Summary summarizes a document: the API as a whole, and its operations.
type Summary struct {
	Spec       string      `json:"openapi"` // version of OpenAPI, such as 3.1.0
	Title      string      `json:"title"`
	Version    string      `json:"version"` // of the API
	Servers    []Server    `json:"servers,omitempty"`
	Operations []Operation `json:"operations,omitempty"` // by path, then in the order of Methods

	Warnings []contract.Warning `json:"warnings,omitempty"` // about parts that are accepted but have no effect
}

// Server is a server URL of the API.
type Server struct {
	URL         string `json:"url"` // with the defaults of its variables
	Description string `json:"description,omitempty"`
}

// Operation is one method of one path.
type Operation struct {
	Method     string `json:"method"`       // uppercase
	Path       string `json:"path"`         // template, such as /orders/{id}
	ID         string `json:"id,omitempty"` // operationId; "": none
	Summary    string `json:"summary,omitempty"`
	Tag        string `json:"tag,omitempty"` // the first one
	Deprecated bool   `json:"deprecated,omitempty"`
	// that its security requires; of alternatives the first that has any
	Scopes    []string `json:"scopes,omitempty"`
	AnswersID bool     `json:"answers_id,omitempty"` // a 2xx answer is a JSON object with the property id
	Digest    string   `json:"digest"`               // of the operation, with its references unresolved
}

// Methods are the methods that a path of a document can have, in the order of Operations.
var Methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// Parse reads and checks a document, JSON or YAML, within a budget, and converts one of Swagger 2.0. A refusal is an
// *Error with all reasons. A document with ambiguous routes, parameters or request bodies is refused; the schemas of
// requests are checked by package validate, and those of responses are not.
func Parse(b *Budget, data []byte) (*Document, error) {
	if !b.Fits(b.size, int64(len(data))) {
		return nil, b.Err()
	}
	text, root, err := toJSON(b, data)
	if err != nil {
		return nil, err
	}
	out := &Document{JSON: text, Tree: tree.Document{Root: root}}
	if tree.Scalar(root["swagger"]) == "2.0" {
		if out.JSON, out.Tree.Root, out.Warnings, err = convert(b, root, len(text)); err != nil {
			return nil, err
		}
	}
	if err := out.checkVersion(); err != nil {
		return nil, err
	}
	b.Take(Memory, int64(len(out.JSON)))
	r := &reader{Budget: b, doc: out.Tree, out: &out.Summary}
	r.flaws()
	r.document()
	return out, b.Err()
}

// checkVersion refuses documents that aren't OpenAPI of a supported version.
func (d *Document) checkVersion() error {
	d.Spec = tree.Scalar(d.Tree.Root["openapi"])
	switch {
	case d.Tree.Root["swagger"] != nil:
		return refuse("Swagger %.20q isn't supported. Use Swagger 2.0, or OpenAPI 3.0 or 3.1.",
			tree.Scalar(d.Tree.Root["swagger"]))
	case d.Spec == "":
		return refuse(`The field openapi is missing. Add the version, such as "openapi": "3.1.0".`)
	case !strings.HasPrefix(d.Spec+".", "3.0.") && !strings.HasPrefix(d.Spec+".", "3.1."):
		return refuse("OpenAPI %.20q isn't supported. Use 3.0 or 3.1.", d.Spec)
	}
	return nil
}
