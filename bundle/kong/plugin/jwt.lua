-- SPDX-License-Identifier: Apache-2.0
--
-- JSON Web Tokens in the compact form (RFC 7515, 7.1; RFC 7519): their content, before any signature is verified. It
-- reads them as the hosted gateway does.

local json = require "kong.plugins.postern-auth.json"

local jwt = {}

-- The longest token, in bytes.
local MAX_LENGTH = 16384

-- The tolerated difference between an issuer's clock and ours, in seconds.
jwt.LEEWAY = 60

-- The longest subject (OpenID Connect Core 1.0, section 2) and list of scopes, in bytes.
local MAX_SUBJECT, MAX_SCOPES = 255, 4096


-- Decodes base64url without padding (RFC 7515, section 2). Returns nil for anything else,
-- and the same text in base64.
local function decode_loosely(text)
  if text:find("[^%w_-]") or #text % 4 == 1 then
    return nil
  end
  local standard = text:gsub("-", "+"):gsub("_", "/") .. ("="):rep(-#text % 4)
  return ngx.decode_base64(standard), standard
end


-- The same for a part that has only one spelling: unused bits are zero.
local function decode(text)
  local decoded, standard = decode_loosely(text)
  return decoded and ngx.encode_base64(decoded) == standard and decoded or nil
end


-- The object that a part of a token encodes; nil for anything else.
local function object(part)
  local text = decode(part)
  return text and json.object(text)
end


-- The header, {algorithm, key_id, type}; nil if it is malformed or requires an extension, since none is supported (RFC
-- 7515, 4.1.11; RFC 7797). Keys in the header or at its addresses (jwk, jku, x5c, x5u) are ignored: a forger would name
-- the key that verifies the forgery (RFC 8725, 3.10).
local function read_header(part)
  local doc = object(part)
  if not doc or doc.crit ~= nil or doc.b64 ~= nil then
    return nil
  end
  local head = { algorithm = json.text(doc.alg), key_id = json.text(doc.kid), type = "" }
  if doc.typ ~= nil then
    head.type = (json.text(doc.typ) or ""):lower():gsub("^application/", "")
    if head.type == "" then
      return nil
    end
  end
  return head.algorithm and head.key_id and head or nil
end


-- The claims that are used; nil if one of them has the wrong type. all is the whole object.
local function read_claims(part)
  local doc = object(part)
  if not doc then
    return nil
  end
  local claims = {
    all = doc,
    issuer = json.text(doc.iss), subject = json.text(doc.sub), audience = json.texts(doc.aud),
    scope = json.texts(doc.scope), scopes = json.texts(doc.scp),
  }
  local expires, not_before, issued
  expires, claims.expires = json.time(doc.exp)
  not_before, claims.not_before = json.time(doc.nbf)
  issued, claims.issued = json.time(doc.iat)
  local whole = claims.issuer and claims.subject and claims.audience and claims.scope and claims.scopes
  return whole and expires and not_before and issued and claims or nil
end


-- The parts of a token: header, claims, the signed text, and the signature; nil for other texts.
function jwt.parse(text)
  if #text > MAX_LENGTH then
    return nil
  end
  local head, payload, signature = text:match("^([^.]+)%.([^.]+)%.([^.]+)$")
  if not head then
    return nil
  end
  local token = {
    header = read_header(head), claims = read_claims(payload), signed = head .. "." .. payload,
    signature = decode(signature),
  }
  return token.header and token.claims and token.signature and token or nil
end


-- The object that a part encodes in any spelling; nil for anything else.
local function object_loosely(part)
  local text = decode_loosely(part)
  return text and json.object(text)
end


local function are_texts(doc, names)
  for _, name in ipairs(names) do
    if not json.text(doc[name]) then
      return false
    end
  end
  return true
end


-- Reports whether a text has the form of a JSON Web Token, and returns its issuer: "" if there is none or it cannot be
-- read. Nothing is verified: this decides who may see the token. An encrypted token (RFC 7516) has the form if its
-- header names an issuer.
function jwt.issuer_of(text)
  local parts = {}
  for part in (text .. "."):gmatch("([^.]*)%.") do
    parts[#parts + 1] = part
  end
  local head = (#parts == 3 or #parts == 5) and object_loosely(parts[1])
  if not head or not are_texts(head, { "alg", "typ", "iss" }) or json.text(head.alg) == "" then
    return false, ""
  end
  if #parts == 5 then
    return json.text(head.iss) ~= "", json.text(head.iss)
  end
  local doc = object_loosely(parts[2])
  local whole = doc and are_texts(doc, { "iss", "sub", "azp", "client_id", "appid", "oid", "tid", "typ" })
    and json.texts(doc.aud) and json.time(doc.exp) and json.time(doc.nbf)
  return true, whole and json.text(doc.iss) or ""
end


-- Reports whether the token is valid now, by its exp, nbf and iat. A token without exp is not: if stolen, it could be
-- used forever.
function jwt.valid(claims, now)
  local expires, not_before, issued = claims.expires, claims.not_before, claims.issued
  return expires ~= nil and expires + jwt.LEEWAY > now
    and (not_before == nil or not_before - jwt.LEEWAY <= now)
    and (issued == nil or issued - jwt.LEEWAY <= now)
end


-- Reports whether the token is for an audience.
function jwt.is_for(claims, audience)
  for _, one in ipairs(claims.audience) do
    if one == audience then
      return true
    end
  end
  return false
end


-- Reports whether a text can be sent as a user's or group's name: printable ASCII without a space at either end, which
-- an upstream would trim.
function jwt.is_name(text)
  return text ~= "" and #text <= MAX_SUBJECT and not text:find("[^ -~]") and not text:find("^ ") and
    not text:find(" $")
end


-- The scopes in the claims scope and scp, joined by spaces; nil if one breaks the rules of RFC 6749, section 3.3, or
-- they are too long for a header.
function jwt.scopes(claims)
  local found, length = {}, 0
  for _, texts in ipairs({ claims.scope, claims.scopes }) do
    for _, text in ipairs(texts) do
      for scope in text:gmatch("%S+") do
        if scope:find('[^!-~]') or scope:find('["\\]') then
          return nil
        end
        length = length + #scope + 1
        found[#found + 1] = scope
      end
    end
  end
  return length <= MAX_SCOPES and table.concat(found, " ") or nil
end


return jwt
