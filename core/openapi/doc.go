// Package openapi reads OpenAPI documents of versions 3.0 and 3.1: it checks them, and finds the servers, the
// operations and the scopes that these ask for. It reads nothing else than the document: references to files and
// other addresses are refused.
package openapi
