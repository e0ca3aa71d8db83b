// Package openapi reads OpenAPI documents of versions 3.0 and 3.1, and converts those of Swagger 2.0. It checks them,
// and finds the servers, the operations and the scopes that these ask for. What leaves open which routes, parameters or
// request bodies there are is refused; what is wrong otherwise gets a warning. It reads nothing else than the document:
// references to files and other addresses lead to nothing.
package openapi
