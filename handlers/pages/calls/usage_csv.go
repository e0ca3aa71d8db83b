package calls

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"net/http"
	"strconv"
	"strings"
	"time"

	"postern/core/contract"
	"postern/handlers/page"
	"postern/handlers/web"
)

// downloadUsage answers with the breakdown of the page as a file (RFC 4180), all rows of it.
func (h *Handler) downloadUsage(v *page.Visit) (web.Answer, error) {
	p, err := h.Projects.Get(v.Ctx(), v.Who, v.Param("project"))
	if err != nil {
		return web.Answer{}, err
	}
	shown, by := chosenUsage(v.Gin.Request.URL.Query())
	found, err := h.Usage.Usage(v.Ctx(), v.Who, contract.UsageQuery{
		ProjectPath: contract.ProjectPath{Project: p.ID}, From: shown.From(time.Now()), GroupBy: by.by,
	})
	if err != nil {
		return web.Answer{}, err
	}
	var file bytes.Buffer
	out := csv.NewWriter(&file)
	head := []string{"from", "to"}
	for _, name := range by.by {
		head = append(head, csvColumns[name].head...)
	}
	head = append(head, "calls", "bytes_in", "bytes_out")
	if by.isTimed() {
		head = append(head, "p50_ms", "p95_ms", "first_byte_p50_ms", "first_byte_p95_ms")
	}
	rows := [][]string{head}
	for _, g := range found.Items {
		rows = append(rows, csvRow(by, found, g))
	}
	if err := out.WriteAll(rows); err != nil {
		return web.Answer{}, err
	}
	v.Gin.Header("Content-Disposition", `attachment; filename="`+p.Name+"-usage-"+shown.name+"-"+by.name+`.csv"`)
	v.Gin.Data(http.StatusOK, "text/csv; charset=utf-8; header=present", file.Bytes())
	return web.Answer{}, nil
}

// csvColumn is the file's column of a criterion.
type csvColumn struct {
	head  []string
	cells func(contract.UsageGroup) []string
}

var csvColumns = map[string]csvColumn{
	contract.ByKey:   {[]string{"key"}, func(g contract.UsageGroup) []string { return []string{*g.Key} }},
	contract.ByOwner: {[]string{"owner"}, func(g contract.UsageGroup) []string { return []string{*g.Owner} }},
	contract.ByRoute: {[]string{"route"}, func(g contract.UsageGroup) []string { return []string{*g.Route} }},
	contract.ByTenant: {[]string{"tenant"}, func(g contract.UsageGroup) []string {
		return []string{g.Tenant.Name}
	}},
	contract.ByStatusClass: {[]string{"status_class"}, func(g contract.UsageGroup) []string {
		return []string{*g.StatusClass}
	}},
	contract.ByEnvironment: {[]string{"version", "environment"}, func(g contract.UsageGroup) []string {
		return []string{g.Environment.Version, g.Environment.Name}
	}},
}

func csvRow(by grouping, of contract.Usage, g contract.UsageGroup) []string {
	row := []string{of.From.Format(time.RFC3339), of.To.Format(time.RFC3339)}
	for _, name := range by.by {
		for _, cell := range csvColumns[name].cells(g) {
			row = append(row, csvText(cell))
		}
	}
	for _, n := range []int64{g.Calls, g.BytesIn, g.BytesOut} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	if !by.isTimed() {
		return row
	}
	if g.Latency == nil {
		return append(row, "", "", "", "")
	}
	for _, q := range []contract.UsageQuantiles{
		g.Latency.Total, *cmp.Or(g.Latency.FirstByte, &contract.UsageQuantiles{}),
	} {
		for _, ms := range []contract.Milliseconds{q.P50, q.P95} {
			row = append(row, strconv.FormatFloat(float64(ms), 'f', -1, 64))
		}
	}
	return row
}

// csvText returns a text as a cell that no spreadsheet takes for a formula (CWE-1236): owners and routes are texts of
// customers.
func csvText(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
