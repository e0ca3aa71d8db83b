package projects

import (
	"errors"
	"net/netip"
	"strings"
	"time"

	"postern/core/contract"
	"postern/models"
	"postern/platform/egress"
	"postern/platform/fault"
	"postern/service/access"
)

// checkUpstreamTLS checks the authorities and the server name of an upstream. It replaces them by what is stored: only
// the certificates, and the name in lowercase.
func (s *Service) checkUpstreamTLS(p access.Principal, pointer string, in *contract.Upstream) (wrong []fault.Field) {
	if in.CA.IsSet() {
		at := pointer + "/ca/pem"
		if s.CapUnclaimed && unclaimed(p) {
			wrong = append(wrong, onlyClaimed(at, "their own certificate authorities"))
		}
		kept, field := checkCA(at, in.CA, models.Now())
		if field != nil {
			wrong = append(wrong, *field)
		}
		in.CA.PEM = &kept
	}
	if in.ServerName != nil && *in.ServerName != "" {
		at := pointer + "/server_name"
		if s.CapUnclaimed && unclaimed(p) {
			wrong = append(wrong, onlyClaimed(at, "their own server names"))
		}
		name, ok := hostOf(*in.ServerName)
		if !ok {
			wrong = append(wrong, fault.Field{Pointer: at, Code: "invalid_server_name", Detail: "Use a DNS name or " +
				"an IP address that the upstream's certificate is valid for, such as api.internal. Leave out the " +
				"scheme, port and path. Use the ASCII form of other names (xn--…)."})
		}
		in.ServerName = &name
	}
	return wrong
}

// onlyClaimed refuses a setting in an unclaimed workspace.
func onlyClaimed(pointer, what string) fault.Field {
	return fault.Field{Pointer: pointer, Code: "needs_claim", Detail: "Unclaimed proxies can't use " + what + ", " +
		"because anyone can create such proxies. Claim the workspace first."}
}

// checkCA returns the certificates of private authorities in PEM, and nothing else of the text: it is shown and
// exported.
func checkCA(pointer string, ca contract.UpstreamCA, now time.Time) (string, *fault.Field) {
	wrong := func(code, detail string) (string, *fault.Field) {
		return "", &fault.Field{Pointer: pointer, Code: code, Detail: detail}
	}
	const limits = "Send 1 to 16 X.509 certificates in PEM (-----BEGIN CERTIFICATE-----), with a total size of at " +
		"most 64 KB."
	if len(*ca.PEM) > contract.MostCABytes {
		return wrong("invalid_ca", "The text is too long. "+limits)
	}
	list, err := ca.Certificates()
	switch {
	case errors.Is(err, contract.ErrPrivateKey):
		return wrong("private_key_in_ca", "The text contains a private key. Send only the authority's certificates, "+
			"because they aren't kept secret. If anyone else could have read the text, replace the key.")
	case err != nil:
		return wrong("invalid_ca", "The text isn't a list of certificates. "+limits)
	case len(list) > contract.MostCAs:
		return wrong("invalid_ca", "There are too many certificates. "+limits)
	}
	for _, one := range list {
		if !one.NotAfter.After(now) {
			return wrong("certificate_expired", "The certificate "+printable(one.Subject.String())+" expired at "+
				one.NotAfter.UTC().Format(time.RFC3339)+". Remove it, or send its replacement.")
		}
	}
	return contract.EncodeCertificates(list), nil
}

// mostSubject is the most bytes of a certificate's subject in a message.
const mostSubject = 200

// printable returns a certificate's subject for a message.
func printable(subject string) string {
	subject = strings.ToValidUTF8(subject, "")
	if len(subject) > mostSubject {
		subject = strings.ToValidUTF8(subject[:mostSubject], "") + "…"
	}
	if subject == "" {
		return "without a subject"
	}
	return subject
}

// hostOf returns a DNS name in lowercase or an IP address in the spelling of its RFC, and false for any other text.
func hostOf(text string) (string, bool) {
	text = strings.TrimSpace(text)
	inURL := text
	if addr, err := netip.ParseAddr(text); err == nil && addr.Is6() {
		inURL = "[" + text + "]"
	}
	if strings.ContainsAny(text, "/@[]") || inURL == text && strings.Contains(text, ":") {
		return "", false
	}
	u, err := egress.ParseTarget("https://" + inURL)
	if err != nil {
		return "", false
	}
	return u.Hostname(), true
}

// fitUpstream checks what the settings of an upstream require of each other and of the target, or the first of several,
// which all have its scheme. whole has all settings, and given those of the request, which are at pointer.
func fitUpstream(pointer string, given, whole contract.Upstream, target string) (wrong []fault.Field) {
	if !whole.CA.TrustsSystem() && !whole.CA.IsSet() {
		at := pointer + "/ca/system"
		if given.CA.System == nil {
			at = pointer + "/ca/pem"
		}
		wrong = append(wrong, fault.Field{Pointer: at, Code: "needs_ca", Detail: "If ca.pem is empty and ca.system " +
			"is false, the gateway doesn't trust any certificate. Send ca.pem, or set ca.system to true."})
	}
	if strings.HasPrefix(target, "https://") {
		return wrong
	}
	for _, one := range []struct {
		name         string
		given, whole bool
	}{
		{"/ca/pem", given.CA.IsSet(), whole.CA.IsSet()},
		{"/server_name", isText(given.ServerName), isText(whole.ServerName)},
	} {
		field := strings.ReplaceAll(one.name[1:], "/", ".")
		switch {
		case one.given:
			wrong = append(wrong, fault.Field{Pointer: pointer + one.name, Code: "needs_https", Detail: "This " +
				"setting is only for https targets, and the target is an http URL. Use an https URL as the " +
				"target, or leave out " +
				field + "."})
		case one.whole:
			at := strings.TrimSuffix(pointer, "/upstream") + "/target"
			if given.Targets != nil {
				at = pointer + "/targets"
			}
			wrong = append(wrong, fault.Field{Pointer: at, Code: "needs_https",
				Detail: "The environment has " + field + ", which is only for https targets. Use an https URL, or " +
					"first remove " + field + " by setting it to \"\"."})
		}
	}
	return wrong
}

func isText(text *string) bool { return text != nil && *text != "" }
