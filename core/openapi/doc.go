// Package openapi reads OpenAPI documents, versions 3.0 and 3.1, and converts Swagger 2.0 documents. It checks them,
// and finds their servers, their operations, and the scopes that operations require. It refuses a document that is
// ambiguous about routes, parameters or request bodies, and returns warnings for other mistakes. It reads only the
// document itself, and never follows references to files or other URLs.
package openapi
