-- SPDX-License-Identifier: Apache-2.0
--
-- JSON Web Tokens in the compact form (RFC 7515, 7.1; RFC 7519): what they say, before
-- any signature is verified. It reads them as the hosted gateway does.

local cjson = require("cjson.safe").new()

-- A number such as Infinity or 0x10 is no JSON (RFC 8259, section 6).
cjson.decode_invalid_numbers(false)
-- An empty list can be told from an empty object.
cjson.decode_array_with_array_mt(true)

local jwt = {}

-- No token is longer, in bytes.
local MAX_LENGTH = 16384

-- The tolerated difference between an issuer's clock and ours, in seconds.
jwt.LEEWAY = 60

-- The longest subject (OpenID Connect Core 1.0, section 2) and list of scopes, in bytes.
local MAX_SUBJECT, MAX_SCOPES = 255, 4096


-- Decodes base64url without padding (RFC 7515, section 2). A token has only one
-- spelling: bits that mean nothing are zero. Returns nil for anything else.
local function decode(text)
  if text:find("[^%w_-]") or #text % 4 == 1 then
    return nil
  end
  local standard = text:gsub("-", "+"):gsub("_", "/") .. ("="):rep(-#text % 4)
  local decoded = ngx.decode_base64(standard)
  return decoded and ngx.encode_base64(decoded) == standard and decoded or nil
end


-- Whether no member of the outermost object is there twice: another parser, such as the
-- upstream's, could read the other one. text is valid JSON.
local function has_no_duplicate(text)
  local seen, depth, at = {}, 0, 1
  while true do
    local from, _, sign = text:find('([{}%[%]"])', at)
    if not from then
      return true
    end
    at = from + 1
    if sign == '"' then
      local ends = at
      while true do
        ends = text:find('["\\]', ends)
        if text:sub(ends, ends) == '"' then
          break
        end
        ends = ends + 2 -- a backslash and what it escapes
      end
      if depth == 1 and text:find("^%s*:", ends + 1) then
        local name = cjson.decode('["' .. text:sub(at, ends - 1) .. '"]')[1]
        if seen[name] then
          return false
        end
        seen[name] = true
      end
      at = ends + 1
    elseif sign == "{" or sign == "[" then
      depth = depth + 1
    else
      depth = depth - 1
    end
  end
end


-- The object that a part of a token encodes; nil for anything else.
local function object(part)
  local text = decode(part)
  local doc = text and text:find("^%s*{") and cjson.decode(text)
  return doc and has_no_duplicate(text) and doc or nil
end


-- The value of a member that is a text: "" where it is absent, nil for any other value.
local function text_of(value)
  if value == nil or value == cjson.null then
    return ""
  end
  return type(value) == "string" and value or nil
end


-- Returns the values of a member that is a text or a list of texts; nil for anything else.
local function texts_of(value)
  if value == nil or value == cjson.null then
    return {}
  end
  if type(value) == "string" then
    return { value }
  end
  if type(value) ~= "table" or getmetatable(value) ~= cjson.array_mt then
    return nil
  end
  local texts = {}
  for i, one in ipairs(value) do
    texts[i] = text_of(one)
    if not texts[i] then
      return nil
    end
  end
  return texts
end


-- Returns whether a member that is a time was read: seconds since 1970, nil where it is
-- absent.
local function time_of(value)
  if value == nil or value == cjson.null then
    return true, nil
  end
  return type(value) == "number", value
end


-- The header, {algorithm, key_id, type}; nil where it is malformed or asks for an
-- extension, of which there is none (RFC 7515, 4.1.11; RFC 7797). Keys in the header or
-- at its addresses (jwk, jku, x5c, x5u) are not looked at: a forger would name the key
-- that verifies the forgery (RFC 8725, 3.10).
local function read_header(part)
  local doc = object(part)
  if not doc or doc.crit ~= nil or doc.b64 ~= nil then
    return nil
  end
  local head = { algorithm = text_of(doc.alg), key_id = text_of(doc.kid), type = "" }
  if doc.typ ~= nil then
    head.type = (text_of(doc.typ) or ""):lower():gsub("^application/", "")
    if head.type == "" then
      return nil
    end
  end
  return head.algorithm and head.key_id and head or nil
end


-- The claims that are looked at; nil where one of them has another type than it has to.
-- all is the whole object.
local function read_claims(part)
  local doc = object(part)
  if not doc then
    return nil
  end
  local claims = {
    all = doc,
    issuer = text_of(doc.iss), subject = text_of(doc.sub), audience = texts_of(doc.aud),
    scope = texts_of(doc.scope), scopes = texts_of(doc.scp),
  }
  local expires, not_before, issued
  expires, claims.expires = time_of(doc.exp)
  not_before, claims.not_before = time_of(doc.nbf)
  issued, claims.issued = time_of(doc.iat)
  local whole = claims.issuer and claims.subject and claims.audience and claims.scope and claims.scopes
  return whole and expires and not_before and issued and claims or nil
end


-- The parts of a token: header, claims, the text that is signed, and the signature; nil
-- for what is none.
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


-- Whether the token is valid now, by its exp, nbf and iat. One without exp is not: a
-- stolen one could be used forever.
function jwt.valid(claims, now)
  local expires, not_before, issued = claims.expires, claims.not_before, claims.issued
  return expires ~= nil and expires + jwt.LEEWAY > now
    and (not_before == nil or not_before - jwt.LEEWAY <= now)
    and (issued == nil or issued - jwt.LEEWAY <= now)
end


-- Whether the token is for an audience.
function jwt.is_for(claims, audience)
  for _, one in ipairs(claims.audience) do
    if one == audience then
      return true
    end
  end
  return false
end


-- Whether a text can be sent as a user's or group's name: printable ASCII without a blank
-- at either end, which an upstream would cut.
function jwt.is_name(text)
  return text ~= "" and #text <= MAX_SUBJECT and not text:find("[^ -~]") and not text:find("^ ") and
    not text:find(" $")
end


-- The scopes in the claims scope and scp, joined by blanks; nil where one is not what
-- RFC 6749, section 3.3, lets it be, or where they are too long for a header.
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
