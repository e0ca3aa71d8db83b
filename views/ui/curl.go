package ui

// Curl returns a command that posts a JSON body to a path of the API.
func (p Page) Curl(path, body string) string {
	const next = " \\\n  "
	return "curl " + p.Control + path + next +
		`-H "Authorization: Bearer $POSTERN_TOKEN"` + next +
		"-H 'content-type: application/json'" + next +
		"-d '" + body + "'"
}
