-- SPDX-License-Identifier: Apache-2.0
--
-- The public keys of token issuers, fetched from where they are published and kept by each worker (OpenID Connect
-- Discovery 1.0, section 4; RFC 7517, section 5).

local fetch = require "kong.plugins.postern-auth.fetch"
local json = require "kong.plugins.postern-auth.json"
local jwks = require "kong.plugins.postern-auth.jwks"

local issuers = {}

-- The ages of kept keys, in seconds, after which they are fetched again while they stay in use, and after which they
-- verify nothing, because the issuer may have withdrawn one.
local REFRESH_AFTER, STALE_AFTER = 30, 60

-- Seconds between two fetches from one issuer, whatever key ids tokens name: invented ones must not flood it with
-- requests.
local FETCH_EVERY = 30

-- The limits of a fetch: seconds for the discovery document and the keys together, and bytes of each.
local TIMEOUT, MAX_DOCUMENT = 5, 512 * 1024

-- The most calls that wait for the keys of one issuer.
local MOST_WAITING = 200


-- Fetches a JSON document.
local function get(address, deadline)
  local answer, problem = fetch.send({
    method = "GET", address = address, headers = {}, most = MAX_DOCUMENT,
    within = math.max(deadline - ngx.now(), 0.001),
  })
  if not answer then
    return nil, problem
  elseif answer.status ~= 200 then
    return nil, "the response has status " .. answer.status
  end
  local doc = answer.body and json.object(answer.body)
  if not doc then
    return nil, answer.problem or "the response is not a JSON object in which each name is there once"
  end
  return doc
end


local function port_of(address)
  return tonumber(address:match("^https?://[^/?#]-:(%d+)[/?#]") or address:match("^https?://[^/?#]-:(%d+)$"))
end


-- Reports whether the port of a discovered address is the issuer's, 80 or 443. No one has reviewed the address, so it
-- must not reach another service.
local function has_allowed_port(address, issuer)
  local port = port_of(address)
  return port == nil or port == 80 or port == 443 or port == port_of(issuer)
end


-- The address of an issuer's keys, from its discovery document. The document must name the issuer (4.3), or another
-- issuer's could replace it.
local function discover(issuer, deadline)
  local doc, problem = get(issuer:gsub("/$", "") .. "/.well-known/openid-configuration", deadline)
  if not doc then
    return nil, problem
  end
  if doc.issuer ~= issuer then
    return nil, "the document names a different issuer"
  end
  local address = type(doc.jwks_uri) == "string" and doc.jwks_uri or ""
  local secure = address:find("^https://")
  if not secure and (issuer:find("^https://") or not address:find("^http://")) then
    return nil, "jwks_uri is not an https URL"
  end
  if not has_allowed_port(address, issuer) then
    return nil, "jwks_uri has a port that is neither the issuer's nor 80 or 443"
  end
  return address
end


local function fetch(set)
  local deadline = ngx.now() + TIMEOUT
  local address, problem = set.jwks_url, nil
  if not address then
    address, problem = discover(set.issuer, deadline)
  end
  local doc
  if address then
    doc, problem = get(address, deadline)
  end
  local keys = doc and jwks.read(doc) or {}
  if #keys == 0 then
    return nil, problem or "none of the keys can verify a token"
  end
  return keys
end


-- The state of the issuers in each worker, by the source of their keys.
local sets = {}

local function set_of(pair)
  local source = pair.jwks_url or "issuer " .. pair.issuer
  local set = sets[source]
  if not set then
    set = {
      issuer = pair.issuer, jwks_url = pair.jwks_url, keys = {}, waiting = 0,
      done = require("ngx.semaphore").new(),
    }
    sets[source] = set
  end
  return set
end


local function is_fresh(set, now)
  return set.fetched_at ~= nil and now - set.fetched_at < STALE_AFTER
end


-- Fetches the keys of a set and wakes the calls that wait for them.
local function run(_, set)
  local worked, keys, problem = pcall(fetch, set)
  if worked and keys then
    set.keys, set.fetched_at, set.failed = keys, set.tried_at, false
  else
    set.failed = true
    -- Lower levels are not logged: see KONG_LOG_LEVEL in docker-compose.yaml.
    kong.log.crit("the keys of the token issuer ", set.jwks_url or set.issuer, " cannot be fetched: ",
      worked and problem or keys)
  end
  set.ongoing = false
  if set.waiting > 0 then
    set.done:post(set.waiting)
    set.waiting = 0
  end
end


-- Starts to fetch the keys, unless that is already in progress. Returns false if the last fetch is too recent. The
-- fetch does not belong to one call, whose caller may leave while others still wait.
local function refresh(set, now)
  if set.ongoing then
    return true
  end
  if set.tried_at and now - set.tried_at < FETCH_EVERY then
    return false
  end
  set.ongoing, set.tried_at = true, now
  if not ngx.timer.at(0, run, set) then
    run(false, set)
  end
  return true
end


-- Waits for keys that are being fetched. Returns false if too many calls wait.
local function wait(set)
  if not set.ongoing then
    return true
  end
  if set.waiting >= MOST_WAITING then
    return false
  end
  set.waiting = set.waiting + 1
  return set.done:wait(TIMEOUT + 1) == true
end


-- The key that may have signed a token of a pair; or nil and the refusal. An unknown key id causes another fetch, as
-- often as FETCH_EVERY allows.
function issuers.key(pair, header)
  local now, set = ngx.now(), set_of(pair)
  local key = is_fresh(set, now) and jwks.matching(set.keys, header)
  if key then
    if now - set.fetched_at >= REFRESH_AFTER then
      refresh(set, now)
    end
    return key
  end
  if refresh(set, now) and not wait(set) then
    return nil, "issuer_unavailable"
  end
  key = is_fresh(set, now) and jwks.matching(set.keys, header)
  if key then
    return key
  end
  if set.failed or not is_fresh(set, now) then
    return nil, "issuer_unavailable" -- it may have published the key since
  end
  return nil, "invalid_token"
end


return issuers
