package bundle_test

import "testing"

// Every tenant name that creation accepts can be exported, those of Windows' devices too, and reads back as it is.
func TestTenantNames_exported(t *testing.T) {
	for name, folder := range map[string]string{
		"con": "con_", "prn": "prn_", "aux": "aux_", "nul": "nul_", "com0": "com0_", "com1": "com1_",
		"com9": "com9_", "lpt1": "lpt1_", "lpt9": "lpt9_", "aux1": "aux1",
		"con-2": "con-2", "com": "com", "com10": "com10",
		"gate": "gate",
	} {
		t.Run(name, func(t *testing.T) {
			in := withPeople()
			in.Project.Tenants[1].Name = name
			data, _ := write(t, in)
			if _, err := verify(data); err != nil {
				t.Fatalf("Verify: %v", err)
			}
			_, files := unzip(t, data)
			for _, file := range []string{"keys/keys.jsonl", "users/users.jsonl", "auth/clients.json"} {
				if files["tenants/"+folder+"/"+file] == "" {
					t.Errorf("tenants/%s/%s is missing or empty", folder, file)
				}
			}
		})
	}
}
