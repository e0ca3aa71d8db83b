package api

import (
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"postern/core/contract"
)

// exportFiles adds the answers about an export that are no operations of huma, which holds an
// answer in memory as one body: files of any size, one of them with ranges, and a stream.
func (h *Handler) exportFiles(r *gin.Engine, api huma.API) {
	document := api.OpenAPI()
	output := document.Components.Schemas.Schema(reflect.TypeFor[contract.Export](), true, "Export")
	described := document.Paths["/api/v1/exports/{export}"].Get
	file := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	for _, one := range []struct {
		path    string
		handler gin.HandlerFunc
		as      huma.Operation
		answer  string
		content map[string]*huma.MediaType
	}{
		{
			path: "download", handler: h.downloadExport,
			as: huma.Operation{
				OperationID: "download-export",
				Summary:     "Download the zip of an export",
				Description: "With Range, also with If-Range and the ETag, the answer is 206 with a part of the zip.",
			},
			answer:  "The zip",
			content: map[string]*huma.MediaType{"application/zip": {Schema: file}},
		},
		{
			path: "ledger/download", handler: h.downloadLedger,
			as: huma.Operation{
				OperationID: "download-export-ledger",
				Summary:     "Download the whole ledger of an export",
				Description: "MIGRATION-REPORT.json out of the zip, with every item. It is gone when the zip expires.",
			},
			answer:  "The ledger",
			content: map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Type: huma.TypeObject}}},
		},
		{
			path: "events", handler: h.followExport,
			as: huma.Operation{
				OperationID: "follow-export",
				Summary:     "Follow an export while it is built",
				Description: "A stream of server-sent events. The data of each is the export as JSON: as it is, " +
					"after each change, and every 15 seconds. The stream ends when the export is finished, and after " +
					"a minute; connect again then.",
			},
			answer:  "Events, each with the export below as data",
			content: map[string]*huma.MediaType{"text/event-stream": {Schema: output}},
		},
	} {
		r.GET("/api/v1/exports/:export/"+one.path, h.Web.Identify, one.handler)
		operation := one.as
		operation.Method, operation.Path = http.MethodGet, "/api/v1/exports/{export}/"+one.path
		operation.Security, operation.Parameters = described.Security, described.Parameters
		operation.Responses = map[string]*huma.Response{"200": {Description: one.answer, Content: one.content}}
		if one.path == "download" {
			operation.Responses["206"] = &huma.Response{
				Description: "The range that was asked for", Content: one.content,
			}
		}
		document.AddOperation(&operation)
	}
}
