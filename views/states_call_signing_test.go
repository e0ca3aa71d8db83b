package views_test

import (
	"postern/views/projects"
	"postern/views/ui"
)

func callSigning() projects.CallSigning {
	const action = "/projects/shop/call-signing"
	return projects.CallSigning{
		Page:         in("Signed calls", action, "Shop", "Signed calls"),
		DirectoryURL: "https://shop.proxy.example.com/.well-known/http-message-signatures-directory",
		BackURL:      "/projects/shop",
		Keys: []projects.SigningKeyRow{
			{
				ID:    "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
				State: ui.Badge{Tone: ui.Good, Text: "signs"},
				From:  on("4 Mar 2026"),
				Until: on("6 Mar 2026"),
			},
			{
				ID:    "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
				State: ui.Badge{Tone: ui.Plain, Text: "published"},
				From:  on("5 Mar 2026"),
			},
		},
		Manage: &projects.CallSigningManage{
			Rotate: ui.Confirmation{
				ID:     "signing-rotate",
				Action: action + "/rotate",
				Verb:   "Rotate",
				Kind:   "key",
				Name:   "Shop",
				Impact: []string{
					"1,204 calls from 3 owners since 13:00 UTC.",
					"Upstreams that haven't fetched the new key by the time it starts signing will refuse all calls. " +
						"The old keys will stay published for another day, unless you withdraw them.",
				},
				Undo:     "You can't go back to an old key.",
				ByButton: true,
			},
			Rotations: []ui.Option{
				{Value: "later", Title: "In an hour, so that upstreams can fetch it first", Chosen: true},
				{Value: "now", Title: "Immediately, and withdraw the old keys"},
			},
			Disable: ui.Confirmation{
				ID:     "signing-disable",
				Action: action + "/disable",
				Impact: []string{"Upstreams that require a signature will refuse all calls."},
				Verb:   "Stop",
				Kind:   "signing",
			},
		},
	}
}

func callSigningOff() projects.CallSigning {
	m := callSigning()
	m.DirectoryURL, m.Keys = "", nil
	m.Manage = &projects.CallSigningManage{EnableAction: "/projects/shop/call-signing"}
	return m
}

func callSigningWrong() projects.CallSigning {
	m := callSigning()
	m.Manage.Error = "The key poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U will start signing at " +
		"2026-03-05T05:06:00Z. " +
		"Rotate again after that, or use signs_in_seconds 0 to replace it now."
	m.Manage.Disable.Error = "Check the box to stop signing."
	return m
}

func callSigningViewer() projects.CallSigning {
	m := callSigning()
	m.Manage = nil
	return m
}
