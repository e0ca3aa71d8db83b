package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"postern/core/contract"
	"postern/platform/fault"
)

const slowDown = 5 * time.Second // RFC 8628, 3.5

// BeginDevice starts a sign-in that a person approves in a browser (RFC 8628, 3.1). The
// approval page shows machine as the name of the device; no scopes means all. The fault of a value that the server
// refuses names /scopes or /machine.
func (c *Client) BeginDevice(ctx context.Context, machine string, scopes []string) (contract.Device, error) {
	form := url.Values{"client_id": {contract.DeviceClient}, "machine": {machine}}
	if len(scopes) > 0 {
		form.Set("scope", strings.Join(scopes, " "))
	}
	out, err := postForm[contract.Device](ctx, c, form, contract.DevicePath)
	refused, ok := errors.AsType[*fault.Error](err)
	if !ok {
		return out, err
	}
	switch refused.Code { // OAuth errors (RFC 6749, 5.2) don't name the parameter
	case "invalid_scope":
		return out, fault.InvalidField("/scopes", refused.Code, "%s", refused.Public)
	case "invalid_request":
		return out, fault.InvalidField("/machine", refused.Code, "%s", refused.Public)
	}
	return out, err
}

// AwaitDevice polls at the server's interval until the sign-in is approved or denied, or
// the code expires. It returns a fault of kind Forbidden when it was denied, and Gone
// when the code has expired.
func (c *Client) AwaitDevice(ctx context.Context, d contract.Device) (contract.DeviceToken, error) {
	every := time.Duration(max(d.Interval, 1)) * time.Second
	form := url.Values{
		"client_id":   {contract.DeviceClient},
		"grant_type":  {contract.DeviceGrantType},
		"device_code": {d.DeviceCode.Reveal()},
	}
	for {
		if err := sleep(ctx, every); err != nil {
			return contract.DeviceToken{}, err
		}
		grant, err := postForm[contract.DeviceToken](ctx, c, form, contract.DeviceTokenPath)
		switch fault.CodeOf(err) {
		case "authorization_pending":
		case "slow_down":
			every += slowDown
		case "access_denied":
			return grant, fault.New(fault.Forbidden, "access_denied", "the sign-in was denied")
		case "expired_token":
			return grant, fault.New(fault.Gone, "expired_token", "the code expired before you approved the sign-in: "+
				"run `postern login` again")
		default:
			if err == nil || fault.KindOf(err) != fault.Unavailable {
				return grant, err
			}
			every *= 2 // a connection that failed (RFC 8628, 3.5)
			if every > time.Minute {
				return grant, err
			}
		}
	}
}

func postForm[Out any](ctx context.Context, c *Client, form url.Values, path string) (Out, error) {
	var out Out
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.base+path, strings.NewReader(form.Encode()))
	if err != nil {
		return out, err
	}
	request.Header = http.Header{"Accept": {"application/json"}, "Content-Type": {"application/x-www-form-urlencoded"}}
	response, err := c.http.Do(request)
	if err != nil {
		return out, c.unreachable(ctx, err)
	}
	defer response.Body.Close()
	body := json.NewDecoder(io.LimitReader(response.Body, maxResponse))
	if response.StatusCode != http.StatusOK {
		var problem struct {
			Error       string `json:"error"`
			Description string `json:"error_description"`
		}
		if err := body.Decode(&problem); err != nil || problem.Error == "" {
			return out, c.unexpected(errors.Join(err, errors.New(response.Status)))
		}
		return out, fault.New(kindOf(response.StatusCode), problem.Error, "%s", problem.Description)
	}
	if err := body.Decode(&out); err != nil {
		return out, c.unexpected(err)
	}
	return out, nil
}

func (c *Client) unexpected(cause error) error {
	return fault.New(fault.Internal, "unexpected_answer", "The server at %s isn't a Postern server. Check the "+
		"URL.", c.base).Because(cause)
}
