package handlers

// devicePath is the page that approves a device's request for a token (RFC 8628, 3.3).
const devicePath = "/device"

// inviteURL is the link of an invitation.
func (s *Server) inviteURL(code string) string { return s.Config.PublicURL + "/invite/" + code }
