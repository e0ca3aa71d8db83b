// Package awsfile reads files of AWS API Gateway: exports of REST APIs (get-export, in OpenAPI 3.0 or Swagger 2.0) and
// HTTP APIs (export-api), and the answers of get-api-keys, get-usage-plans, get-usage-plan-keys, get-stages and
// get-base-path-mappings.
//
// It owns their formats: telling the files apart, references, and the values of stage variables. It returns every
// entity of the files, with its line. It leaves the translation to Postern to core/movein.
//
// Errors never contain values of a file, since any value can be a secret.
package awsfile
