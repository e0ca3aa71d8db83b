package projects

import "postern/views/ui"

// ClientCertificate shows the certificate that an environment presents to its upstream, and
// replaces and removes it.
type ClientCertificate struct {
	Page    ui.Page
	Title   string // version and environment, such as 1.0.0/prod
	Target  string
	Shown   *ShownCertificate // nil while there is none
	Note    string            // why none can be set; "" if one can
	Fix     ui.Link           // to what changes that; the zero Link for viewers
	Error   string            // of a form that is not on the page
	Set     *ClientCertificateForm
	Remove  *ui.Confirmation
	BackURL string // of the project
}

// ShownCertificate is a certificate without its private key.
type ShownCertificate struct {
	State ui.Badge
	Facts []ui.Fact
	Chain string // PEM
}

// ClientCertificateForm posts certificate and private_key to Action. The key is never shown.
type ClientCertificateForm struct {
	Action      string
	Replaces    bool
	Certificate ui.Value
	KeyError    string
	Error       string
}
