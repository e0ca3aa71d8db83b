package oidc_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"postern/core/contract"
	"postern/testkit/idp"
	"postern/testkit/state"
)

// TestLogin_certifiedClient signs in with a third-party client library, which discovers
// the issuer, verifies every signature and claim, calls userinfo, refreshes and revokes,
// with each algorithm.
func TestLogin_certifiedClient(t *testing.T) {
	t.Parallel()
	db := state.OpenSQLite(t)
	for _, algorithm := range []string{contract.RS256, contract.ES256, contract.EdDSA} {
		t.Run(algorithm, func(t *testing.T) {
			s := newLoginApp(t, db, contract.AppClientSettings{Algorithm: &algorithm})
			fake, _ := s.offerFake()
			command := exec.Command("node", "client.mjs", s.server.Login.Issuer(s.client.ID), s.client.ID, callback)
			command.Dir = idp.NodeDirectory()
			var complaints bytes.Buffer
			command.Stderr = &complaints
			input, err := command.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			output, err := command.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := command.Start(); err != nil {
				t.Fatalf("start the client: %v (run tools/setup)", err)
			}
			t.Cleanup(func() {
				_ = input.Close()
				_ = command.Wait()
			})
			lines := bufio.NewScanner(output)
			if !lines.Scan() {
				t.Fatalf("the client does not begin: %v\n%s", command.Wait(), complaints.String())
			}
			browser := s.browser()
			back := s.agree(browser, fake.Authorize(t, s.get(browser, lines.Text()).to.String()).String())
			if _, err := fmt.Fprintln(input, back); err != nil {
				t.Fatal(err)
			}
			var got struct{ Sub, Email, Again, After string }
			if !lines.Scan() || json.Unmarshal(lines.Bytes(), &got) != nil {
				t.Fatalf("the client does not end: %v\n%s", command.Wait(), complaints.String())
			}
			if !strings.HasPrefix(got.Sub, "usr_") || got.Again != got.Sub || got.Email != "ana@example.com" ||
				got.After != "invalid_token" {
				t.Errorf("the client got %+v", got)
			}
		})
	}
}
