-- SPDX-License-Identifier: Apache-2.0
--
-- Opaque tokens, which only their issuer can check: its introspection endpoint (RFC 7662) is asked on every call.
-- Neither tokens nor answers are stored.

local fetch = require "kong.plugins.postern-auth.fetch"
local json = require "kong.plugins.postern-auth.json"
local jwt = require "kong.plugins.postern-auth.jwt"
local queue = require "kong.plugins.postern-auth.queue"

local introspection = {}

-- The limits of a request, in seconds, and of an answer and a token, in bytes.
local TIMEOUT, MAX_ANSWER, MAX_TOKEN = 5, 64 * 1024, 16384

-- The most calls of a worker that wait for one endpoint.
local MOST_WAITING = 200

-- Seconds between two lines in the log about one endpoint.
local LOG_EVERY = 30


-- A text encoded for a form (application/x-www-form-urlencoded).
local function escaped(text)
  return (text:gsub("[^%w%-_.~ ]", function(c) return ("%%%02X"):format(c:byte()) end):gsub(" ", "+"))
end


-- The client secret for an endpoint, "" if there is none; nil if the variable has no value. The endpoint must not be
-- asked then, because it might also answer requests without authentication.
local function secret_of(endpoint)
  if not endpoint.secret then
    return ""
  end
  local value = kong.vault.get("{vault://env/" .. endpoint.secret .. "}")
  return type(value) == "string" and value ~= "" and value or nil
end


-- The request. The token is in the body, because addresses end up in logs.
local function question(endpoint, secret, text)
  local client = endpoint.client_id or ""
  local form = { "token=" .. escaped(text), "token_type_hint=access_token" }
  local headers = { ["Content-Type"] = "application/x-www-form-urlencoded" }
  if endpoint.method == "client_secret_post" then
    if secret ~= "" then
      table.insert(form, 1, "client_secret=" .. escaped(secret))
    end
    table.insert(form, 1, "client_id=" .. escaped(client))
  elseif client ~= "" then
    -- RFC 6749, 2.3.1: encoded before they are joined.
    headers["Authorization"] = "Basic " .. ngx.encode_base64(escaped(client) .. ":" .. escaped(secret))
  end
  return {
    method = "POST", address = endpoint.endpoint, headers = headers, body = table.concat(form, "&"),
    within = TIMEOUT, most = MAX_ANSWER, keep = true,
  }
end


-- The calls that wait, by endpoint.
local waiting = {}


local logged = {}

local function report(_, endpoint, problem)
  -- Lower levels are not logged: see KONG_LOG_LEVEL in docker-compose.yaml.
  kong.log.crit("the introspection endpoint ", endpoint, " cannot check tokens: ", problem)
end


-- The refusal of a call whose token cannot be checked, with a line in the log.
local function unjudged(id, endpoint, refusal, problem)
  local now = ngx.now()
  if not logged[id] or now - logged[id] >= LOG_EVERY then
    logged[id] = now
    -- Not in the call's own context, where nginx would add the request line, with keys in the query.
    ngx.timer.at(0, report, endpoint.endpoint, problem)
  end
  return nil, refusal
end


-- The content of an answer with status 200; nil if it is invalid.
local function said_in(text)
  local doc = json.object(text)
  if not doc then
    return nil
  end
  local said = {
    active = doc.active, bound = doc.cnf, kind = json.text(doc.token_type), client = json.text(doc.client_id),
    subject = json.text(doc.sub), issuer = json.text(doc.iss), audience = json.texts(doc.aud),
    scope = { json.text(doc.scope) }, scopes = {},
  }
  local expires, not_before
  expires, said.expires = json.time(doc.exp)
  not_before, said.not_before = json.time(doc.nbf)
  if said.active == nil or said.active == json.null then
    said.active = false
  end
  local whole = type(said.active) == "boolean" and said.kind and said.client and said.subject and said.issuer
    and said.audience and said.scope[1]
  return whole and expires and not_before and said or nil
end


-- The content of a response; or nil, the refusal and the problem.
local function read(answer)
  local status = answer.status
  if status >= 500 or status == 429 or status == 408 then
    return nil, "provider_unavailable", "it returned " .. status
  elseif not answer.body then
    return nil, answer.too_long and "provider_answer_invalid" or "provider_unavailable", answer.problem
  elseif status ~= 200 then
    return nil, "provider_answer_invalid", "it returned " .. status
  end
  local said = said_in(answer.body)
  if not said then
    return nil, "provider_answer_invalid", "its response cannot be read"
  end
  return said
end


-- Reports whether an answer says that the token is a bearer token that is valid now.
local function holds(said, now)
  local kind = said.kind:lower()
  return said.active and (said.expires == nil or said.expires + jwt.LEEWAY > now)
    and (said.not_before == nil or said.not_before - jwt.LEEWAY <= now)
    -- Refresh tokens are active too.
    and (kind == "" or kind == "bearer" or kind == "access_token")
    -- The caller does not prove that it has the key that the token is bound to (RFC 7800).
    and (said.bound == nil or said.bound == json.null)
end


-- The content of an answer's token, for tokens.caller; nil if it is not accepted here.
local function accepted(endpoint, said)
  local scopes = jwt.scopes(said)
  if not holds(said, ngx.time()) or not scopes or not jwt.is_name(said.subject)
    or (endpoint.issuer and said.issuer ~= endpoint.issuer)
    or (endpoint.audience and not jwt.is_for(said, endpoint.audience))
  then
    return nil, "invalid_token"
  end
  return {
    issuer = said.issuer ~= "" and said.issuer or endpoint.endpoint, subject = said.subject, scopes = scopes,
    tenant = endpoint.tenant,
  }
end


local function starts_with_any(text, prefixes)
  for _, prefix in ipairs(prefixes or {}) do
    if text:sub(1, #prefix) == prefix then
      return true
    end
  end
  return false
end


-- Reports, by a token's form, whether it is another issuer's. Such a token must not be sent to the endpoint, which
-- could use it. exported is the exported realm, nil if it is not trusted.
function introspection.withholds(endpoint, exported, text)
  local withheld = endpoint.withheld or {}
  local is_jwt, issuer = jwt.issuer_of(text)
  if not is_jwt then
    return withheld.opaque == true or starts_with_any(text, withheld.tokens)
  end
  if exported and exported.issuer == issuer then
    return true
  end
  for _, one in ipairs(withheld.issuers or {}) do
    if one == issuer then
      return true
    end
  end
  return starts_with_any(issuer, withheld.issuers_below)
end


-- Reports whether a token can be sent unchanged.
function introspection.is_plain(text)
  return text ~= "" and #text <= MAX_TOKEN and not text:find("[^!-~]")
end


-- The content of a token according to the endpoint with that id; or nil and the refusal.
function introspection.ask(id, endpoint, text)
  local secret = secret_of(endpoint)
  if not secret then
    return unjudged(id, endpoint, "provider_unavailable", "the variable " .. endpoint.secret .. " has no value")
  end
  local line = waiting[id] or queue.new(MOST_WAITING, TIMEOUT)
  waiting[id] = line
  local call = queue.enter(line, ngx.now())
  if not call then
    return unjudged(id, endpoint, "provider_unavailable", MOST_WAITING .. " calls wait for it")
  end
  local answer, problem = fetch.send(question(endpoint, secret, text))
  queue.leave(line, call)
  if not answer then
    return unjudged(id, endpoint, "provider_unavailable", problem)
  end
  local said, refusal
  said, refusal, problem = read(answer)
  if not said then
    return unjudged(id, endpoint, refusal, problem)
  end
  return accepted(endpoint, said)
end


return introspection
