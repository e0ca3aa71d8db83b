// Package validate checks requests against an OpenAPI document of version 3.0 or 3.1: parameters in path, query and
// header, the content type, and JSON and form bodies. It owns the compiled document and its evaluation, which is
// bounded in steps and depth whatever the document and the request say. It leaves reading documents to package openapi,
// and the handling of requests that don't match to the gateway. Standards: OpenAPI 3.0.4 and 3.1.1, JSON Schema 2020-12
// (validation vocabulary), RFC 6901 (pointers).
package validate
