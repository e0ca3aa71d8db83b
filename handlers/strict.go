package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"
)

// answersFor lets through requests that name this server: by its public address,
// as localhost or by a bare address. A page whose own name was made to resolve
// to this machine (DNS rebinding) is same-origin with us to its browser, and
// gives itself away by the name it asks for.
func (s *Server) answersFor(next http.Handler) http.Handler {
	public := ""
	if u, err := url.Parse(s.Config.PublicURL); err == nil {
		public = u.Hostname()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := (&url.URL{Host: r.Host}).Hostname()
		_, notAddress := netip.ParseAddr(host)
		if notAddress != nil && !strings.EqualFold(host, public) && !strings.EqualFold(host, "localhost") {
			s.respond(w, r, &Problem{Type: "about:blank", Title: http.StatusText(http.StatusMisdirectedRequest), Status: http.StatusMisdirectedRequest,
				Code: "misdirected", Detail: "This server does not go by that name. Set its name with --public-url or POSTERN_PUBLIC_URL."})
			return
		}
		next.ServeHTTP(w, r)
	})
}

// unmarshalStrict refuses JSON that two parsers could read differently: with
// bytes that are no UTF-8, or with a member that is named twice (RFC 8259, 4 and
// 8.1).
func unmarshalStrict(data []byte, into any) error {
	if !utf8.Valid(data) {
		return errors.New("it is not encoded as UTF-8")
	}
	if err := json.Unmarshal(data, into); err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	return noDuplicates(decoder)
}

// noDuplicates reads one value.
func noDuplicates(decoder *json.Decoder) error {
	token, err := decoder.Token()
	if err != nil {
		return err
	}
	open, ok := token.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for decoder.More() {
		if open == '{' {
			name, err := decoder.Token()
			if err != nil {
				return err
			}
			member, _ := name.(string)
			if seen[member] {
				return fmt.Errorf("the member %q is named twice", member)
			}
			seen[member] = true
		}
		if err := noDuplicates(decoder); err != nil {
			return err
		}
	}
	_, err = decoder.Token()
	return err
}
