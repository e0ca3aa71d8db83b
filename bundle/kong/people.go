package kong

import "postern/bundle"

// What a gateway cannot do for people: it verifies tokens and signs nobody in.

func mappingFate() bundle.Fate {
	return bundle.Fate{
		Reason: "rule_kept",
		Status: bundle.Lossy,
		How:    "`auth/providers.json`",
		Note: "The rule puts users into a group when they sign in. It stands in providers.json; this gateway signs " +
			"nobody in.",
		Remedy: "Set up the same rule at the OpenID Connect provider that you move your applications to, such as a " +
			"claim to group mapper in Keycloak. Rules for GitHub need a provider that reads organizations and teams " +
			"itself, such as Dex.",
	}
}

func redirectFate() bundle.Fate {
	return bundle.Fate{
		Reason: "addresses_kept",
		Status: bundle.Lossy,
		How:    "`auth/clients.json`",
		Note: "The addresses that browsers may be sent back to stand in clients.json; this gateway sends no browser " +
			"anywhere.",
		Remedy: "Register them with the app client at the OpenID Connect provider that you move your applications to.",
	}
}

func brandingFate() bundle.Fate {
	return bundle.Fate{
		Reason: "texts_kept",
		Status: bundle.Lossy,
		How:    "`auth/clients.json`",
		Note: "Title, welcome text, color and the address of the logo of the sign-in page stand in clients.json; this " +
			"gateway has no such page.",
		Remedy: "Make a theme of them where users sign in from now on.",
	}
}

func entryFate() bundle.Fate {
	return bundle.Fate{
		Reason: "rule_kept",
		Status: bundle.Lossy,
		How:    "`users/entry.json`",
		Note: "Who may join the tenant stands in entry.json. The rule is applied when a user signs in for the first " +
			"time, which no user does at this gateway.",
		Remedy: "Keep the OpenID Connect provider that you move to from making users of whoever signs in, if the rule " +
			"is to hold there.",
	}
}

func consentFate() bundle.Fate {
	return bundle.Fate{
		Reason: "record_kept",
		Status: bundle.Lossy,
		How:    "`users/users.jsonl`",
		Note: "What users agreed to share with app clients stands with each user in users.jsonl; where they sign in " +
			"from now on they are asked again.",
	}
}
