package api

import (
	_ "embed"
	"encoding/json"
	"maps"
	"slices"

	"github.com/danielgtaylor/huma/v2"
)

// examplesJSON has the examples of operations by their IDs: requests to a test server, and its answers
// (TestExamples_golden in package handlers).
//
//go:embed examples.json
var examplesJSON []byte

// example is one request for an operation, and the answer to it.
type example struct {
	Request json.RawMessage `json:"request"` // nil: without a body
	Answer  json.RawMessage `json:"answer"`  // nil: without JSON
}

// describeExamples adds the examples to the document.
func describeExamples(document *huma.OpenAPI) {
	var examples map[string]example
	if err := json.Unmarshal(examplesJSON, &examples); err != nil {
		panic(err) // the file is part of the program
	}
	forOperations(document, func(_ string, operation *huma.Operation) {
		of := examples[operation.OperationID]
		if body := operation.RequestBody; body != nil && of.Request != nil {
			addExample(body.Content, of.Request)
		}
		// The recorded answer has the first status. Others are for other kinds of requests.
		for _, status := range slices.Sorted(maps.Keys(operation.Responses)) {
			if status[0] == '2' && of.Answer != nil {
				addExample(operation.Responses[status].Content, of.Answer)
				break
			}
		}
	})
}

func addExample(content map[string]*huma.MediaType, one json.RawMessage) {
	if media := content["application/json"]; media != nil {
		media.Example = one
	}
}
