-- SPDX-License-Identifier: Apache-2.0
--
-- The answers that callers get instead of the upstream's, as from the hosted gateway.

local answers = {}

local KEY = 'Key realm="postern"'

-- By the name of a refusal: status, message, and, if the name is not the code, the code; for a 401 also the challenge
-- (RFC 9110, 15.5.2; RFC 6750, section 3).
local ANSWERS = {
  credentials_required = { 401, "Send an API key in the X-API-Key header.", challenge = KEY },
  token_required = {
    401, "Send a token as Authorization: Bearer.", code = "credentials_required", challenge = "Bearer",
  },
  either_required = {
    401, "Send an API key in the X-API-Key header, or a token as Authorization: Bearer.",
    code = "credentials_required", challenge = KEY .. ", Bearer",
  },
  key_in_authorization = {
    401, "Authorization contains an API key. Send it in the X-API-Key header.", code = "credentials_required",
    challenge = KEY,
  },
  tokens_not_accepted = {
    401,
    "Authorization contains a token, but this API doesn't accept tokens. Send an API key in the X-API-Key header.",
    code = "credentials_required", challenge = KEY,
  },
  keys_not_accepted = {
    401,
    "Authorization contains an API key, but this API doesn't accept API keys. Send a token as Authorization: Bearer.",
    code = "invalid_token", challenge = 'Bearer error="invalid_token"',
  },
  invalid_key = { 401, "This API key isn't valid here.", challenge = KEY },
  invalid_token = { 401, "This token isn't valid here.", challenge = 'Bearer error="invalid_token"' },
  key_frozen = { 403, "This API key is frozen." },
  user_frozen = { 403, "This user is frozen." },
  wrong_tenant = { 403, "This API key belongs to a tenant that isn't served here." },
  token_tenant = {
    403, "This token belongs to a tenant that isn't served here, or to a different tenant than the API key.",
    code = "wrong_tenant",
  },
  client_frozen = { 403, "This application is frozen." },
  insufficient_scope = { 403, "This route requires a scope that the caller doesn't have." },
  token_scope = {
    403, "This route requires a scope that the token doesn't have.", code = "insufficient_scope",
    challenge = 'Bearer error="insufficient_scope"',
  },
  not_in_group = { 403, "This route requires a group that the caller isn't in." },
  not_owner = { 403, "Only the owner of this object can make this call." },
  ownership_unavailable = { 503, "The owner of the object cannot be checked at the moment." },
  no_rule = { 403, "None of this API's rules allow this route." },
  ip_denied = { 403, "Calls from this IP address aren't allowed." },
  rate_limited = { 429, "Too many calls. Try again after the time in Retry-After." },
  quota_exceeded = { 429, "The call quota is used up. Try again after the time in Retry-After." },
  limits_unavailable = { 503, "Calls can't be counted right now." },
  issuer_unavailable = { 503, "The token issuer's keys aren't available right now." },
  provider_unavailable = { 503, "The token can't be checked right now, because its issuer can't be reached." },
  provider_answer_invalid = { 502, "The token's issuer returned an invalid response." },
  provider_token_unavailable = {
    503, "The provider's token for the upstream can't be decrypted right now.",
  },
  too_many_headers = { 431, "This request has too many header lines." },
  no_route = { 404, "There is no project, version or environment at this URL." },
  bad_path = { 400, "A dot segment in the path points above the root or is hidden, for example by an encoded slash." },
  bad_body = { 400, "A JSON body must be an object or an array." },
  body_too_large = { 413, "The request body is too large." },
  malformed_connection = { 400, "The Connection header must not name an identity header." },
  upstream_credentials_missing = { 503, "The gateway has no credential for the upstream." },
  upstream_unreachable = { 502, "The upstream can't be reached." },
}


-- The challenge of a refusal, as a route whose keys travel elsewhere has it.
local function challenge_of(name, answer, api_key)
  if api_key and name == "either_required" then
    return api_key.either_challenge
  end
  return api_key and answer.challenge == KEY and api_key.challenge or answer.challenge
end


-- Answers the call with a refusal and these headers. The message ends in the scope that the caller lacks, if one is
-- given. No text in it needs escaping. api_key has the messages of the route, if it has its own.
function answers.refuse(name, headers, scope, api_key)
  local answer = ANSWERS[name]
  local message = api_key and api_key.messages[name] or answer[2]
  if scope then
    message = message:sub(1, -2) .. ": " .. scope .. "."
  end
  headers = headers or {}
  headers["Content-Type"] = "application/json"
  headers["WWW-Authenticate"] = challenge_of(name, answer, api_key)
  local body = '{"message":"' .. message .. '","code":"' .. (answer.code or name) .. '"}'
  return kong.response.exit(answer[1], body, headers)
end


-- nginx mistakes an interim response (1xx) for the final one, and then neither reads the caller's next request nor
-- closes its connection. Whatever the upstream sends next would follow unchanged, and a proxy in front would treat it
-- as the response to another caller. Lua cannot close the connection, and "Connection: close" is only a header to
-- nginx. So nginx is told to answer itself, with a code after which it closes the connection: 501, which unlike 500 has
-- no error_page of Kong's. It runs header_filter again for that response, and our response replaces it there.
function answers.refuse_interim()
  if ngx.ctx.postern_interim then
    answers.refuse("upstream_unreachable")
  elseif ngx.status < 200 and ngx.status ~= 101 then
    ngx.ctx.postern_interim = true
    ngx.exit(501)
  end
end


return answers
