package web

// DevicePath is the page that approves a device's request for a token (RFC 8628, 3.3).
const DevicePath = "/device"

// InviteURL returns the public URL of the invitation with this code.
func (s *Site) InviteURL(code string) string { return s.Config.PublicURL + "/invite/" + code }
