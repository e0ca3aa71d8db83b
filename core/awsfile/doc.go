// Package awsfile reads files of AWS API Gateway: exports of REST APIs (get-export, in OpenAPI 3.0 or Swagger 2.0) and
// HTTP APIs (export-api), and the answers of get-api-keys, get-usage-plans, get-usage-plan-keys, get-stages and
// get-base-path-mappings.
//
// It owns their forms: which file is which, references, and the values of stage variables. It returns every entity of
// the files, with its line. It leaves to core/movein what Postern makes of them.
//
// An error has no value of a file, since any of them can be a secret.
package awsfile
