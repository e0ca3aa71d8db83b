package main

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"postern/testkit"
)

// person is the installation's first account at a browser.
type person struct {
	ts     *testscript.TestScript
	server string
	client *http.Client
}

const personsPassword = "four unrelated words"

// sit signs the first account in, and creates it if it does not exist.
func sit(ts *testscript.TestScript) *person {
	jar, err := cookiejar.New(nil)
	ts.Check(err)
	p := &person{ts: ts, server: ts.Getenv("POSTERN_SERVER"), client: &http.Client{Jar: jar}}
	status, _ := p.post(p.server+"/signin", "email", "ana@example.com", "password", personsPassword)
	if status == http.StatusOK {
		return p
	}
	status, page := p.post(
		ts.Getenv("FIRST_LINK"), "email", "ana@example.com", "name", "Ana", "password", personsPassword,
	)
	if status != http.StatusOK {
		ts.Fatalf("sign in: %d %s", status, page)
	}
	return p
}

func (p *person) post(address string, form ...string) (status int, page string) {
	values := url.Values{}
	for i := 0; i < len(form); i += 2 {
		values.Set(form[i], form[i+1])
	}
	answer, err := p.client.PostForm(address, values)
	p.ts.Check(err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	p.ts.Check(err)
	return answer.StatusCode, string(text)
}

var userCode = regexp.MustCompile(`(?m)^ {4}([B-Z]{4}-[B-Z]{4})$`)

// script is a script that testkit can fail.
type script struct{ *testscript.TestScript }

// Helper does nothing: a script's failures name the line of the script.
func (script) Helper() {}

// decides approve|deny FILE: the first account decides on the code that a login,
// writing to the file, shows or is about to show.
func decides(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: decides approve|deny FILE")
	}
	code := testkit.Await(script{ts}, "a code in "+args[1], func() ([]string, bool) {
		text, err := os.ReadFile(ts.MkAbs(args[1]))
		if err != nil {
			return []string{err.Error()}, false
		}
		code := userCode.FindStringSubmatch(string(text))
		return code, code != nil
	})
	status, page := sit(ts).post(ts.Getenv("POSTERN_SERVER")+"/device", "user_code", code[1], "decision", args[0])
	if want := map[string]string{
		"approve": "is signed in",
		"deny":    "Denied",
	}[args[0]]; status != http.StatusOK || !strings.Contains(page, want) {
		ts.Fatalf("the page answered %d: %s", status, page)
	}
}
