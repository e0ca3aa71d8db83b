package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

func clientCertificate() projects.ClientCertificate {
	const action = "/projects/shop/versions/ver_1/environments/env_1/client-certificate"
	return projects.ClientCertificate{
		Page:    in("Client certificate", action, "Shop", "Client certificate"),
		Title:   "1.0.0/prod",
		Target:  "https://api.example.com/v1",
		BackURL: "/projects/shop#ver_1",
		Shown: &projects.ShownCertificate{
			State: ui.Badge{Tone: ui.Good, Text: "valid"},
			Facts: []ui.Fact{
				{Label: "Subject", Value: "CN=gateway.shop.example,OU=Payments,O=Shop Inc.,C=DE", Mono: true},
				{Label: "Issuer", Value: "CN=Example Clients CA G2,O=Example Trust", Mono: true},
				{
					Label: "Fingerprint",
					Value: "4f1c7a3f0e3f0a8b5a54d8f7f3a4b1d8b0c3c1cfa0d6e5b0e5f7e7b8d6a9c2e1",
					Mono:  true,
				},
				{Label: "Valid from", Value: "4 Mar 2026, 05:06 UTC"},
				{Label: "Expires", Value: "4 Mar 2027, 05:06 UTC"},
				{Label: "Set", Value: "5 Mar 2026, 05:06 UTC"},
			},
			Chain: "-----BEGIN CERTIFICATE-----\nMIIBhTCCASugAwIBAgIQIRi6zePL6mKjOipn+dNuaTAKBggqhkjOPQQDAjAS\n" +
				"-----END CERTIFICATE-----\n",
		},
		Set: &projects.ClientCertificateForm{Action: action, Replaces: true},
		Remove: &ui.Confirmation{
			ID:     "certificate-remove",
			Action: action + "/remove",
			Verb:   "Remove",
			Kind:   "certificate",
			Impact: []string{
				"An upstream that requires a certificate will refuse all calls.",
			},
		},
	}
}

func clientCertificateNone() projects.ClientCertificate {
	m := clientCertificate()
	m.Shown, m.Remove, m.Set.Replaces = nil, nil, false
	return m
}

func clientCertificateWrong() projects.ClientCertificate {
	m := clientCertificate()
	m.Set.Certificate = ui.Value{
		Text:  m.Shown.Chain,
		Error: "The certificate expired at 2026-03-04T05:06:00Z. Renew it.",
	}
	m.Set.KeyError = "The key doesn't match the first certificate. Send the key for the environment's certificate, " +
		"and put that certificate first in the chain."
	m.Set.Error = "The certificate wasn't set."
	m.Remove.Error = "Check the box to remove the certificate."
	return m
}

func clientCertificateExpiring() projects.ClientCertificate {
	m := clientCertificate()
	m.Shown.State = ui.Badge{Tone: ui.Warn, Text: "expires in 12 days"}
	return m
}

func clientCertificateHTTP() projects.ClientCertificate {
	m := clientCertificateNone()
	m.Target, m.Set = "http://api.example.com/v1", nil
	m.Note = "Certificates work only over TLS, and this environment's target is an http URL. Change the target to an " +
		"https URL first."
	return m
}

func clientCertificateViewer() projects.ClientCertificate {
	m := clientCertificate()
	m.Set, m.Remove = nil, nil
	return m
}
