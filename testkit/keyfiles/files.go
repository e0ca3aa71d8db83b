package keyfiles

import "postern/core/keyfile"

// All returns the files of all sources.
func All() []File {
	var all []File
	for _, of := range [][]File{native(), unkey(), kong(), aws(), tyk(), mapped(), unusable()} {
		all = append(all, of...)
	}
	return all
}

func native() []File {
	return []File{
		{Name: "native.ndjson", Source: keyfile.Native, Keys: []Key{
			{Row: 1, Plaintext: "pk_live_4eC39HqLyjWDarjtT1zdp7dc", Owner: "acme", Outcome: Active},
			{Row: 2, Plaintext: "pk_live_7hG2kL9pQr4sT6vW8xY0zA1b", Owner: "acme", Outcome: Active},
			{Row: 3, Plaintext: "pk_live_8iH3lM0qRs5tU7wX9yZ1aB2c", Owner: "acme", Outcome: Active},
			{Row: 4, Plaintext: "pk_live_9jI4mN1rSt6uV8xY0zA2bC3d", Owner: "acme", Outcome: Frozen},
			{Row: 5, Plaintext: "pk_live_0kJ5nO2sTu7vW9yZ1aB3cD4e", Owner: "acme", Outcome: Revoked},
			{Row: 6, Plaintext: "pk_live_1lK6oP3tUv8wX0zA2bC4dE5f", Owner: "acme", Outcome: Expired},
			{Row: 7, Plaintext: "pk_live_2mL7pQ4uVw9xY1aB3cD5eF6g", Outcome: Refused, Code: keyfile.CodeUnknown},
			{Row: 8, Outcome: Refused, Code: keyfile.CodeMissing},
			{Row: 9, Plaintext: "pk_live_3nM8qR5vWx0yZ2bC4dE6fG7h", Outcome: Refused, Code: keyfile.CodeMissing},
			{Row: 10, Outcome: Refused, Code: keyfile.CodeFormat},
			{Row: 11, Plaintext: "pk_live_4oN9rS6wXy1zA3cD5eF7gH8i", Outcome: Refused, Code: keyfile.CodeRepeated},
		}},
		{Name: "native.csv", Source: keyfile.Native, Keys: []Key{
			{Row: 2, Plaintext: "pk_test_5pO0sT7xYz2aB4dE6fG8hI9j", Owner: "acme", Outcome: Active},
			{Row: 3, Plaintext: "pk_test_6qP1tU8yZa3bC5eF7gH9iJ0k", Owner: "globex", Outcome: Frozen},
			{Row: 4, Plaintext: "pk_test_7rQ2uV9zAb4cD6fG8hI0jK1l", Owner: "initech", Outcome: Revoked},
			{Row: 5, Plaintext: "pk_test_8sR3vW0aBc5dE7gH9iJ1kL2m", Outcome: Refused, Code: keyfile.CodeInvalid},
			{Row: 6, Plaintext: "pk_test_9tS4wX1bCd6eF8hI0jK2lM3n", Outcome: Refused, Code: keyfile.CodeFormat},
		}},
	}
}

// The table is pkg/mysql/schema/keys.sql of unkeyed/unkey (fc99b6b9): hash is the SHA-256 of the whole key in standard
// base64 (pkg/hash/sha256.go), expires a datetime, meta a text. The body of keys.migrateKeys has expires in
// milliseconds and meta as an object (docs/product/platform/apis/migrations/keys.mdx). The hash of a key that was
// migrated as github.com/seamapi/prefixed-api-key is the SHA-256 of its long token in hex, until the key is verified
// (internal/services/keys/get_migrated.go). Answers of the API are svc/api/openapi/spec/common/KeyResponseData.yaml.
func unkey() []File {
	return []File{
		{Name: "unkey-table.csv", Source: keyfile.Unkey, Keys: []Key{
			{Row: 2, Plaintext: "uk_3ZxXcAbmUkQqT1ykRbBTc9aN", Owner: "id_acme", Outcome: Active},
			{Row: 3, Plaintext: "uk_8QpLm2VwT9sKd4HnYb7RzXcE", Owner: "id_globex", Outcome: Frozen},
			{Row: 4, Plaintext: "uk_5TgBn7JmK1qWe3RtYu8IoPaS", Owner: "id_globex", Outcome: Expired},
			{Row: 5, Plaintext: "uk_1QaZ2WsX3EdC4RfV5TgB6YhN", Owner: "id_globex", Outcome: Revoked},
			{
				Row: 6, Plaintext: "mycompany_BRTRKFsL_51FwqftsmMDHHbJAMEXXHCgG", Outcome: Refused,
				Code: keyfile.CodeHash,
			},
		}},
		{Name: "unkey-migration.json", Source: keyfile.Unkey, Keys: []Key{
			{Row: 1, Plaintext: "sk_live_9f8E7d6C5b4A3z2Y1x0W", Owner: "acme", Outcome: Active},
			{Row: 2, Plaintext: "sk_live_q1W2e3R4t5Y6u7I8o9P0", Owner: "globex", Outcome: Frozen},
			{Row: 3, Plaintext: "sk_live_zZ9yY8xX7wW6vV5uU4tT", Owner: "globex", Outcome: Expired},
			{
				Row: 4, Plaintext: "acme_c4fbfe7c_c4fbfe7c69a067cb0841dea343346a75", Outcome: Refused,
				Code: keyfile.CodeHash,
			},
		}},
		{Name: "unkey-api.json", Source: keyfile.Unkey, Keys: []Key{
			{Row: 1, Plaintext: "uk_2AbcDeFgH3iJkLmN4oPqRsT5", Owner: "acme", Outcome: Active},
			{Row: 2, Plaintext: "uk_7XyzUvWqR1tYuIoP2aSdFgH3", Owner: "globex", Outcome: Frozen},
			{Row: 3, Outcome: Refused, Code: keyfile.CodeMissing},
		}},
	}
}

// The columns are kong/plugins/key-auth/daos.lua of Kong/kong (22246ef2). ttl is what is left in the answers of the
// Admin API (kong/db/strategies/postgres/init.lua: select_expressions, EXTRACT(EPOCH FROM ttl - CURRENT_TIMESTAMP)),
// the end in files of DB-less Kong (kong/db/strategies/off/init.lua: process_ttl_field) and of db_export
// (select_for_export_expressions), and a timestamp in the table. A ttl is at most 1e8 (kong/constants.lua:
// DAO_MAX_TTL).
func kong() []File {
	return []File{
		{Name: "kong-admin.json", Source: keyfile.Kong, Keys: []Key{
			{Row: 3, Plaintext: "hV5mXc2Qz9Lp0Rk7Yt3Wb8Nd4Fg6Js1A", Owner: "acme", Outcome: Active},
			{Row: 4, Plaintext: "Bq8Zr3Tn6Wk1Lx9Pv4Cm7Hd2Gy5Js0Fe", Owner: "cus_2", Outcome: Active},
			{Row: 5, Plaintext: "Ux4Ej9Ka2Vs7Ob5Mi1Zy8Tc3Qf6Rw0Pn", Owner: "cus_2", Outcome: Expired},
			{Row: 6, Plaintext: "{vault://env/acme-key}", Outcome: Refused, Code: keyfile.CodePlaceholder},
			{Row: 7, Plaintext: "Gd7Yh2Nf9Lc4Xo1Kz6Bt8Sw3Ev5Ru0Mq", Outcome: Refused, Code: keyfile.CodeMissing},
		}},
		{Name: "kong-dbless.json", Source: keyfile.Kong, Keys: []Key{
			{Row: 1, Plaintext: "aK3jF8sLq0Zx7Wv2Nb5Mc9Td4Rg6Yh1P", Owner: "acme", Outcome: Active},
			{Row: 1, Part: 1, Plaintext: "Lp9Ok8Ij7Uh6Yg5Tf4Rd3Es2Wa1Qz0Xc", Owner: "acme", Outcome: Active},
			{Row: 2, Plaintext: "Rt5Yu6Io7Pa8Sd9Fg0Hj1Kl2Zx3Cv4Bn", Owner: "globex", Outcome: Expired},
			{Row: 2, Part: 1, Plaintext: "Mn1Bv2Cx3Zl4Kj5Hg6Fd7Sa8Po9Iu0Yt", Owner: "globex", Outcome: Expired},
			{Row: 2, Part: 2, Plaintext: "$SUPABASE_ANON_KEY", Outcome: Refused, Code: keyfile.CodePlaceholder},
		}},
		{Name: "kong-table.csv", Source: keyfile.Kong, Keys: []Key{
			{
				Row: 2, Plaintext: "Wd2Xs3Qa4Ze5Rf6Tg7Yh8Uj9Ik0Ol1Pm", Owner: "c0ffee00-0001-4000-8000-000000000001",
				Outcome: Active,
			},
			{
				Row: 3, Plaintext: "Nb6Vg7Cf8Xd9Zs0Aq1Wm2El3Rk4Tj5Yh", Owner: "c0ffee00-0001-4000-8000-000000000001",
				Outcome: Active,
			},
			{
				Row: 4, Plaintext: "Ju8Ki9Lo0Pq1Aw2Se3Dr4Ft5Gy6Hu7Ji", Owner: "c0ffee00-0001-4000-8000-000000000001",
				Outcome: Expired,
			},
		}},
	}
}

// The CSV file is "API Gateway API key file format" of AWS (docs.aws.amazon.com/apigateway/latest/developerguide/
// api-key-file-format.html): names in any case and order, plans in double or single quotes, enabled by default, and the
// last import of a value overwrites earlier ones. The JSON is the answer of GetApiKeys, GetUsagePlans and
// GetUsagePlanKeys as the AWS command line prints it (API_GetApiKeys.html), each of the last with its plan added.
func aws() []File {
	return []File{
		{Name: "aws.csv", Source: keyfile.AWS, Keys: []Key{
			{Row: 2, Plaintext: "", Outcome: Refused, Code: keyfile.CodeRepeated},
			{Row: 3, Plaintext: "qwertyuiop0987654321asdfghjkl1", Owner: "second", Outcome: Active},
			{Row: 4, Plaintext: "mnbvcxz5678lkjhgfdsa4321poiuyt", Owner: "third", Outcome: Frozen},
			{Row: 5, Plaintext: "zaq12wsxcde34rfvbgt56yhnmju78i", Owner: "fourth", Outcome: Active},
			{Row: 6, Plaintext: "plokijuhygtfrdeswaq1234567890z", Outcome: Refused, Code: keyfile.CodeMissing},
			{Row: 7, Plaintext: "apikey1234abcdefghij0123456789", Owner: "first-again", Outcome: Active},
		}},
		{Name: "aws.json", Source: keyfile.AWS, Keys: []Key{
			{Row: 6, Plaintext: "aws1KeyValueOfAcme0123456789abcdefABCDEF", Owner: "acme", Outcome: Active},
			{Row: 7, Plaintext: "aws2KeyValueOfGlobex9876543210fedcbaFEDC", Owner: "cus_2", Outcome: Frozen},
			{Row: 8, Plaintext: "aws3KeyValueOfInitech5647382910qwertyQW", Owner: "initech", Outcome: Frozen},
			{Row: 9, Outcome: Refused, Code: keyfile.CodeMissing},
		}},
	}
}

// The hashes are internal/crypto/hash.go of TykTechnologies/tyk (31e219be): murmur32, 64 and 128 or sha256, in hex, of
// the whole token, which is JSON in base64 (internal/crypto/token.go: GenerateToken). Sessions are user/session.go:
// SessionState. Its expires is seconds since 1970, and never if it isn't above 0.
func tyk() []File {
	const begin = "eyJvcmciOiI1ZTlkOTU0NGExZGNkNjAwMDFkMGVkMjAiLCJpZCI6I"
	return []File{{Name: "tyk.ndjson", Source: keyfile.Tyk, Keys: []Key{
		{Row: 1, Plaintext: begin + "mFjbWUiLCJoIjoic2hhMjU2In0=", Owner: "acme", Outcome: Active},
		{Row: 2, Plaintext: begin + "mdsb2JleCIsImgiOiJzaGEyNTYifQ==", Owner: "globex", Outcome: Frozen},
		{Row: 3, Plaintext: begin + "m9sZCIsImgiOiJzaGEyNTYifQ==", Outcome: Expired},
		{Row: 4, Outcome: Refused, Code: keyfile.CodeHash},
		{Row: 5, Outcome: Refused, Code: keyfile.CodeHash},
		{Row: 6, Outcome: Refused, Code: keyfile.CodeHash},
		{Row: 7, Plaintext: "B4s1cUs3rN4m3OfTyk98765", Outcome: Refused, Code: keyfile.CodeCredential},
		{Row: 8, Plaintext: "Hm4cIdOfTyk0123456789Zx", Outcome: Refused, Code: keyfile.CodeCredential},
		{Row: 9, Plaintext: "Jw7Id3nt1tyOfTyk0123456", Outcome: Refused, Code: keyfile.CodeCredential},
		{Row: 10, Plaintext: "O4uthT0k3nOfTyk01234567", Outcome: Refused, Code: keyfile.CodeCredential},
	}}}
}

// Apigee: times are milliseconds as texts, and the status of a credential is approved or revoked
// (cloud.google.com/apigee/docs/reference/apis/apigee/rest/v1/Credential). Azure: a subscription has two keys, and its
// state is active, suspended, cancelled, expired, rejected or submitted (apimsubscriptions.json of Azure's REST API).
// Zuplo: key-format=masked shows a part of keys (zuplo.com/docs/api/api-keys-keys).
func mapped() []File {
	return []File{
		{
			Name: "apigee.ndjson", Source: keyfile.Native,
			Map: map[string]string{
				"consumerKey": "key", "app": "owner", "developerId": "metadata.developer", "status": "state",
				"expiresAt": "expires_at", "issuedAt": "created_at",
			},
			Keys: []Key{
				{Row: 1, Plaintext: "Hq2Lr8Vn4Xk6Zp0Tw9Cs3Bd7Fj1Gm5Y", Owner: "orders-app", Outcome: Active},
				{Row: 2, Plaintext: "Ow5Ei9Ra1Tu7Yp3Sk8Dl2Fz6Gx0Hc4V", Owner: "orders-app", Outcome: Revoked},
				{Row: 3, Plaintext: "Bz1Nx9Mc8Lv7Kb6Jn5Hm4Gq3Fw2De0R", Owner: "reports-app", Outcome: Expired},
				{Row: 4, Plaintext: "Ty6Ur5Ie4Oq3Pa2Ls1Kd0Jf9Hg8Gh7Z", Owner: "reports-app", Outcome: Active},
				{Row: 5, Plaintext: "Ty6Ur5****", Outcome: Refused, Code: keyfile.CodeUnusable},
			},
		},
		{
			Name: "azure.json", Source: keyfile.Native,
			Map: map[string]string{
				"id": "-", "name": "credential_id", "properties.displayName": "name", "properties.ownerId": "owner",
				"properties.scope": "metadata.scope", "properties.state": "state",
				"properties.createdDate": "created_at", "properties.expirationDate": "expires_at",
				"properties.primaryKey": "key", "properties.secondaryKey": "key",
			},
			Keys: []Key{
				{Row: 1, Plaintext: "80450f7d0b6d481382113073f67822c1", Owner: "acme", Outcome: Active},
				{Row: 1, Part: 1, Plaintext: "97d6112c3a8f48d5bf0266b7a09a761c", Owner: "acme", Outcome: Active},
				{Row: 2, Plaintext: "1f0e2d3c4b5a69788796a5b4c3d2e1f0", Owner: "globex", Outcome: Frozen},
				{Row: 2, Part: 1, Plaintext: "0a9b8c7d6e5f40312233445566778899", Owner: "globex", Outcome: Frozen},
				{Row: 3, Plaintext: "aabbccddeeff00112233445566778800", Owner: "gone", Outcome: Revoked},
			},
		},
		{
			Name: "zuplo.json", Source: keyfile.Native,
			Map: map[string]string{
				"consumer": "owner", "id": "credential_id", "expiresOn": "expires_at", "createdOn": "created_at",
			},
			Keys: []Key{
				{Row: 1, Plaintext: "zpka_d67b7e241bb948758f415b79aa8exb3f_2efb9f19", Owner: "acme", Outcome: Active},
				{
					Row: 2, Plaintext: "zpka_0c1d2e3f4a5b46978899aabbccddeeff_7a6b5c4d", Owner: "globex",
					Outcome: Expired,
				},
				{Row: 3, Plaintext: "zpka_****_7a6b5c4d", Outcome: Refused, Code: keyfile.CodeUnusable},
			},
		},
		{
			Name: "own.csv", Source: keyfile.Native,
			Map: map[string]string{
				"API Key": "key", "customer": "owner", "Active": "enabled", "expires": "expires_at",
				"Notes": "description", "plan": "metadata.plan",
			},
			Keys: []Key{
				{Row: 2, Plaintext: "k9J2hG5fD8sA1pO4iU7yT0rE", Owner: "acme", Outcome: Active},
				{Row: 3, Plaintext: "W3eR6tY9uI2oP5aS8dF1gH4j", Owner: "globex", Outcome: Frozen},
				{Row: 4, Plaintext: "zX7cV0bN3mQ6wE9rT2yU5iO8", Owner: "initech", Outcome: Expired},
				{Row: 5, Plaintext: "00123456789", Outcome: Refused, Code: keyfile.CodeUnusable},
				{Row: 6, Plaintext: "1200000000000000", Outcome: Refused, Code: keyfile.CodeUnusable},
				{Row: 7, Plaintext: "aB3cD6eF9gH2iJ5kL8mN1oP4", Outcome: Refused, Code: keyfile.CodeUnusable},
				{Row: 8, Plaintext: "short", Owner: "acme", Outcome: Active}, // weak: refused unless allow_weak
			},
		},
	}
}

// Laravel: src/HasApiTokens.php of laravel/sanctum (41097ec5) hashes the part after "id|", and PersonalAccessToken::
// findToken compares it. GitLab: token_digest is the SHA-256 of the token and a part of db_key_base. knox: SHA-512
// (jazzband.github.io/django-rest-knox/settings). djangorestframework-api-key: SHA-512 without salt, earlier Django's
// default hasher (src/rest_framework_api_key/crypto.py: Sha512ApiKeyHasher).
func unusable() []File {
	hashes := File{Name: "hashes.ndjson", Source: keyfile.Native}
	for row := int64(1); row <= 11; row++ {
		hashes.Keys = append(hashes.Keys, Key{Row: row, Outcome: Refused, Code: keyfile.CodeHash})
	}
	return []File{
		hashes,
		{Name: "sanctum.csv", Code: keyfile.CodeHash},
		{
			Name: "sanctum.csv", Code: keyfile.CodeHash,
			Map: map[string]string{"token": "sha256", "tokenable_id": "owner", "tokenable_type": "-"},
		},
		{Name: "gitlab.csv", Code: keyfile.CodeHash},
		{
			Name: "gitlab.csv", Code: keyfile.CodeHash,
			Map: map[string]string{"token_digest": "sha256", "user_id": "owner"},
		},
		{Name: "knox.csv", Code: keyfile.CodeHash},
		{Name: "drf.csv", Code: keyfile.CodeHash},
	}
}
