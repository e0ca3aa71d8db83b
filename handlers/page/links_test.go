package page_test

import (
	"testing"

	"postern/handlers/page"
)

func TestChoiceTitle(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ displayName, name, want string }{
		{"shop", "shop", "shop"},
		{"Shop", "shop", "Shop (shop)"},
		{"Shop", "shop-2", "Shop (shop-2)"},
	} {
		if got := page.ChoiceTitle(tt.displayName, tt.name); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.displayName, tt.name, got, tt.want)
		}
	}
}
