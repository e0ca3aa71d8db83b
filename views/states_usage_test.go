package views_test

import (
	"strconv"
	"time"

	"postern/views/projects"
	"postern/views/ui"
)

func usage() projects.Usage {
	m := usageEmpty()
	m.Chart = chart()
	m.Timed, m.Since = true, "13:00"
	m.Facts = []ui.Fact{
		{Label: "Calls", Value: "48,210"},
		{Label: "4xx", Value: "1.2%"},
		{Label: "5xx", Value: "0.04%"},
		{Label: "Latency p95", Value: "112 ms"},
		{Label: "Bytes in", Value: "12 MB"},
		{Label: "Bytes out", Value: "1.4 GB"},
	}
	m.Rows = []projects.UsageRow{
		{
			Label:    "billing-service",
			Detail:   "key_06h050t9v5ch9w0902azn362am",
			URL:      "/projects/shop/keys/key_1",
			Calls:    "41,002",
			BytesIn:  "11 MB",
			BytesOut: "1.3 GB",
			Share:    86,
			P50:      "9.2 ms",
			P95:      "112 ms",
		},
		{
			Label:    "a partner with a very long name that goes on and on and on",
			Detail:   "key_06h050sbm4ahyqje9t9607epr4",
			URL:      "/projects/shop/keys/key_2",
			Calls:    "5,000",
			BytesIn:  "1 MB",
			BytesOut: "90 MB",
			Share:    11,
		},
		{Label: "without a valid key", Calls: "2,208", BytesIn: "0 B", BytesOut: "160 kB", Share: 5},
		{Label: "/orders/{id}", Mono: true, Calls: "1", BytesIn: "0 B", BytesOut: "160 B", Share: 1},
	}
	m.More = "Showing the 50 rows with the most calls. The CSV file contains all rows."
	return m
}

func chart() projects.Chart {
	m := projects.Chart{Title: "Calls per hour"}
	for i := range 24 {
		n := int64(i)
		b := projects.Bar{
			Label:  "20 Nov, " + strconv.Itoa(i) + ":00",
			Tick:   strconv.Itoa(i) + ":00",
			Good:   n * n * 37 % 4000,
			Client: n * 13 % 300,
			P50:    time.Duration(8+i%5) * time.Millisecond,
			P95:    time.Duration(40+i*i*7%90) * time.Millisecond,
		}
		if i%7 == 3 {
			b.Server = 120
		}
		m.Bars = append(m.Bars, b)
	}
	return m
}

func overview() projects.Overview {
	return projects.Overview{
		Calls:      "48,210",
		Refused:    "602",
		Rejected:   "1,204",
		Failed:     "19",
		P50:        "9.2 ms",
		P95:        "112 ms",
		FirstByte:  "first byte 7.1 ms / 98 ms",
		Spark:      chart(),
		UsageURL:   "/projects/shop/usage",
		LastExport: projects.LastExport{Text: "exported", At: ago(1)},
		ExportURL:  "/projects/shop/export",
		Leaves: projects.Portability{
			Badge: ui.Badge{Tone: ui.Good, Text: "96% portable to Kong"},
			Note:  "39 of 43 items exact",
			URL:   "/exports/exp_1/ledger",
		},
	}
}

func usageEmpty() projects.Usage {
	head := configure().Head
	m := projects.Usage{
		Page:   in("Usage", "/projects/shop/usage", "Storefront API", "Usage"),
		Head:   head,
		Column: "Key",
		Periods: []projects.Choice{
			{Text: "24 hours", URL: "/projects/shop/usage?period=24h", Current: true},
			{Text: "30 days", URL: "/projects/shop/usage?period=30d"},
		},
		By: []projects.Choice{
			{Text: "Key", URL: "/projects/shop/usage?by=key", Current: true},
			{Text: "Owner", URL: "/projects/shop/usage?by=owner"},
			{Text: "Environment", URL: "/projects/shop/usage?by=environment"},
			{Text: "Status", URL: "/projects/shop/usage?by=status"},
		},
		Facts: []ui.Fact{
			{Label: "Calls", Value: "0"},
			{Label: "Bytes in", Value: "0 B"},
			{Label: "Bytes out", Value: "0 B"},
		},
		Chart:  projects.Chart{Title: "Calls per hour"},
		CSVURL: "/projects/shop/usage.csv?by=key",
	}
	for _, b := range chart().Bars {
		m.Chart.Bars = append(m.Chart.Bars, projects.Bar{Label: b.Label, Tick: b.Tick})
	}
	return m
}

func request() projects.RequestDetail {
	row := requests().Rows[0]
	return projects.RequestDetail{
		Page:    in("Request", "/projects/shop/requests/ab12-9", "Storefront API", "Requests"),
		Request: row,
		Facts: []ui.Fact{
			{Label: "Time", Value: "20 Nov 2026, 14:03:22.118 UTC"},
			{Label: "Duration", Value: "12.4 ms"},
			{Label: "First byte", Value: "9.1 ms"},
			{Label: "Route", Value: "/orders/{id}", Mono: true},
			{Label: "Environment", Value: "2.1.0 prod"},
			{Label: "Address", Value: "192.0.2.7", Mono: true},
			{Label: "Body size (in, out)", Value: "0 B, 1.2 kB"},
		},
		Steps: []projects.ExplainedStep{
			{Name: "Route", Outcome: ui.Badge{Tone: ui.Good, Text: "passed"}},
			{Name: "Access", Outcome: ui.Badge{Tone: ui.Good, Text: "passed"}},
			{Name: "Limits", Outcome: ui.Badge{Tone: ui.Good, Text: "passed"}},
			{Name: "Forward", Outcome: ui.Badge{Tone: ui.Good, Text: "200"}, Detail: "the upstream responded"},
		},
		Upstream: []ui.Fact{
			{Label: "X-Real-IP", Value: "192.0.2.7", Mono: true},
			{Label: "X-Consumer-Username", Value: "billing-service", Mono: true},
			{Label: "X-Internal-Token", Value: "***", Mono: true},
		},
		Curl:    `curl -i -H "X-API-Key: $API_KEY" 'http://localhost:8090/shop/2.1.0/prod/orders/42'`,
		BackURL: "/projects/shop/requests",
	}
}

func requests() projects.Requests {
	m := requestsEmpty()
	m.LiveFrom, m.OlderURL = "ab12-9", "/projects/shop/requests?before=ab12-1"
	m.Dropped = "The log was too busy to keep 12 calls. All calls were still served and counted."
	row := projects.Request{
		URL:         "/projects/shop/requests/ab12-9",
		ExplainURL:  "/projects/shop/explain?method=GET&path=%2Forders",
		Time:        "14:03:22.118",
		At:          on("20 Nov 2026"),
		Method:      "GET",
		Path:        "/shop/2.1.0/prod/orders/42",
		Rest:        "/orders/42",
		Status:      ui.Badge{Tone: ui.Good, Text: "200"},
		Step:        "forward",
		Environment: "2.1.0 prod",
		Owner:       "billing-service",
		KeyURL:      "/projects/shop/keys/key_1",
		Duration:    "12.4 ms",
		Bytes:       "0 B / 1.2 kB",
		Address:     "192.0.2.7",
	}
	refused, failed, long := row, row, row
	refused.Status = ui.Badge{Tone: ui.Warn, Text: "401"}
	refused.Reason, refused.Step = "credentials_required", "access"
	refused.Owner, refused.KeyURL = "", ""
	failed.Status, failed.Reason, failed.Method = ui.Badge{Tone: ui.Bad, Text: "504"}, "upstream_timeout", "DELETE"
	long.Rest = "/a/path/that/is/much/longer/than/the/column/has/room/for"
	long.Path = "/shop/2.1.0/prod" + long.Rest
	long.Owner, long.KeyURL = "a partner with a very long name that goes on", ""
	long.Address = "2001:db8:85a3::8a2e:370:7334"
	m.Rows = []projects.Request{row, refused, failed, long}
	return m
}

func requestsNoGateway() projects.Requests {
	m := requestsEmpty()
	m.NoGateway, m.LiveURL = true, ""
	return m
}

func requestsEmpty() projects.Requests {
	head := configure().Head
	return projects.Requests{
		Page: in("Requests", "/projects/shop/requests", "Storefront API", "Requests"), Head: head,
		LiveURL: "/projects/shop/requests", LiveFrom: "none", Here: "/projects/shop/requests",
		Path: "/projects/shop/requests", Statuses: []ui.Option{{Title: "All"}, {Value: "4xx", Title: "4xx"}},
	}
}
