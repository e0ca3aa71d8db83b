package app_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
)

// useCodes makes the codes that a person carries from one place to another, used
// and unused ones.
func (a *aviary) useCodes() {
	status, text := a.ask("GET", "/api/v1/teams", "", "")
	var teams struct{ Items []struct{ ID string } }
	if err := json.Unmarshal([]byte(text), &teams); err != nil || len(teams.Items) == 0 {
		a.Fatalf("the teams: %d %s", status, text)
	}
	a.secret(
		"an invitation's code",
		"POST",
		"/api/v1/teams/"+teams.Items[0].ID+"/invitations",
		`{"role":"viewer"}`,
		"code",
	)
	for _, what := range []string{"a device code", "a device code that waits"} {
		status, text := a.form("/oauth/device_authorization", "client_id", "postern-cli", "machine", "laptop")
		var asked struct {
			Device string `json:"device_code"`
			User   string `json:"user_code"`
		}
		if err := json.Unmarshal([]byte(text), &asked); err != nil || len(asked.Device) < 20 || asked.User == "" {
			a.Fatalf("%s: %d %s", what, status, text)
		}
		a.canaries[what], a.canaries["the user code of "+what] = asked.Device, asked.User
	}
	a.form("/device", "user_code", a.canaries["the user code of a device code"], "decision", "approve")
	status, text = a.form(
		"/oauth/token", "client_id", "postern-cli", "grant_type",
		"urn:ietf:params:oauth:grant-type:device_code", "device_code", a.canaries["a device code"],
	)
	var granted struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(text), &granted); err != nil || len(granted.Token) < 20 {
		a.Fatalf("a command line's token: %d %s", status, text)
	}
	a.canaries["a command line's token"] = granted.Token
	a.ask("GET", "/api/v1/whoami", "", "", "Authorization", "Bearer "+granted.Token)
}

// readTables reads every column of every table, whatever its type. Bytes are read
// as they are: PostgreSQL keeps large values compressed, where no file shows them.
func (a *aviary) readTables(db *sql.DB) {
	names := "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
	if a.settings.DatabaseURL != "" {
		names = "SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = " +
			"current_schema() AND table_type = 'BASE TABLE'"
	}
	var tables []string
	a.rows(db, names, func(values []any) { tables = append(tables, asText(values[0])) })
	if len(tables) < 20 {
		a.Fatalf("only %d tables: %v", len(tables), tables)
	}
	var all strings.Builder
	for _, table := range tables {
		a.rows(db, "SELECT * FROM "+table, func(values []any) {
			all.WriteString(table)
			for _, value := range values {
				all.WriteString("\t" + asText(value))
			}
			all.WriteString("\n")
		})
	}
	a.seen["the tables"] = all.String()
}

func (a *aviary) rows(db *sql.DB, query string, each func(values []any)) {
	a.Helper()
	rows, err := db.QueryContext(a.Context(), query)
	if err != nil {
		a.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		a.Fatal(err)
	}
	values, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			a.Fatalf("%s: %v", query, err)
		}
		each(values)
	}
	if err := rows.Err(); err != nil {
		a.Fatalf("%s: %v", query, err)
	}
}

func asText(value any) string {
	if b, ok := value.([]byte); ok {
		return string(b)
	}
	return fmt.Sprint(value)
}
