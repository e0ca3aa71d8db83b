package validate_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"postern/core/openapi"
	"postern/core/openapi/validate"
)

// Calls as Stripe's clients send them match Stripe's document, and wrong ones don't.
func TestStripe(t *testing.T) {
	packed, err := os.ReadFile("../testdata/stripe.yaml.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	b := openapi.NewBudget(t.Context(), openapi.Size)
	doc, err := openapi.Parse(b, text)
	if err != nil {
		t.Fatal(err)
	}
	v, err := validate.Compile(b, doc.Tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ call, form, want string }{
		{"GET /v1/charges?expand[]=data.customer&expand[]=data.invoice&limit=3", "", ""},
		{"GET /v1/charges?created[gte]=1700000000&created[lt]=1800000000", "", ""},
		{"GET /v1/charges?created=1700000000", "", ""},
		{"GET /v1/charges?limit=3%0a", "", "query limit must be an integer"},
		{"GET /v1/charges?created[gte]=now", "", "query created must match one of the 2 descriptions in the document"},
		{"GET /v1/subscriptions?expand[0]=data.customer", "", ""},
		{"POST /v1/customers", "email=a%40example.com&metadata[order_id]=6735&address[city]=Berlin", ""},
		{"POST /v1/customers", "metadata=&description=", ""},
		{"POST /v1/customers", "address[city][name]=Berlin",
			"body /address must match one of the 2 descriptions in the document"},
		{"POST /v1/subscriptions", "customer=cus_1&items[0][price]=price_1&items[0][quantity]=2" +
			"&expand[]=latest_invoice", ""},
		{"POST /v1/subscriptions", "customer=cus_1&items[][price]=price_1&items[][price]=price_2", ""},
		{"POST /v1/subscriptions", "customer=cus_1&items[0][quantity]=two",
			"body /items/0/quantity must be an integer"},
		{"POST /v1/checkout/sessions", "mode=payment&success_url=https%3A%2F%2Fexample.com&line_items[0][price_data]" +
			"[currency]=usd&line_items[0][price_data][product_data][name]=Shirt&line_items[0][price_data][unit_amount" +
			"]=2000&line_items[0][quantity]=1&payment_method_types[]=card", ""},
		{"POST /v1/payment_intents", "amount=2000&currency=usd&automatic_payment_methods[enabled]=true", ""},
		{"POST /v1/payment_intents", "amount=2000&currency=usd&automatic_payment_methods[enabled]=yes",
			"body /automatic_payment_methods/enabled must be a boolean"},
		{"POST /v1/payment_intents", "currency=usd", "body /amount is required"},
		{"POST /v1/prices", "currency=usd&unit_amount=1000&recurring[interval]=month&product_data[name]=Gold", ""},
		{"POST /v1/prices", "currency=usd&recurring[interval]=decade",
			`body /recurring/interval must be one of "day", "month", "week", "year"`},
		{"POST /v1/invoices", "customer=cus_1&custom_fields[0][name]=PO&custom_fields[0][value]=7", ""},
	} {
		target, query, _ := strings.Cut(tt.call, "?")
		method, path, _ := strings.Cut(target, " ")
		m, ok := v.Find(method, path)
		if !ok {
			t.Errorf("%s is not found", tt.call)
			continue
		}
		const form = "application/x-www-form-urlencoded"
		problems := m.Head(newWork(t), "?"+query, int64(len(tt.form)), func(name string) []string {
			return map[string][]string{"Content-Type": {form}}[name]
		})
		if tt.form != "" {
			problems = append(problems, m.Body(newWork(t), form, "", []byte(tt.form))...)
		}
		if got := said(problems); got != tt.want {
			t.Errorf("%s %s: %q, want %q", tt.call, tt.form, got, tt.want)
		}
	}
}
