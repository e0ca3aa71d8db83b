-- SPDX-License-Identifier: Apache-2.0
--
-- Request headers that callers may not set, because upstreams trust the gateway to set them. This covers every spelling
-- that an upstream could mistake for the header: one that reads CGI variables sees HTTP_X_TENANT_ID for X_Tenant_ID
-- too.

local headers = {}

-- The fate of headers that are never forwarded. places.lua judges those that have a key.
headers.REMOVED = "removed"

-- Every name that begins with one of these.
local FAMILIES = {
  "x-consumer-", "x-credential-", "x-authenticated-", "x-tenant-", "x-project-", "x-anonymous-",
}

-- Kong itself overwrites these, but only in this exact spelling.
local SET_BY_KONG = {
  ["x-forwarded-for"] = true,
  ["x-forwarded-host"] = true,
  ["x-forwarded-path"] = true,
  ["x-forwarded-port"] = true,
  ["x-forwarded-prefix"] = true,
  ["x-forwarded-proto"] = true,
  ["x-real-ip"] = true,
}

-- nginx uses these to frame a message, in this exact spelling.
local FRAMING = {
  ["content-length"] = true,
  ["transfer-encoding"] = true,
}


-- The bytes of white space around a value (RFC 9110, 5.6.3), and all that Lua has.
local BLANK = { [9] = true, [32] = true }
headers.SPACE = { [9] = true, [10] = true, [11] = true, [12] = true, [13] = true, [32] = true }

-- The text without the blanks at its ends, or without the bytes in a set. A pattern would try the end again at each
-- blank, so a long line would keep the worker busy.
function headers.trimmed(text, set)
  set = set or BLANK
  local first, last = 1, #text
  while set[text:byte(first)] do
    first = first + 1
  end
  while last > first and set[text:byte(last)] do
    last = last - 1
  end
  return first == 1 and last == #text and text or text:sub(first, last)
end


-- The last word of a text, without the blanks after it; "" if it has more than that many bytes.
function headers.last_word(text, most)
  local last = #text
  while BLANK[text:byte(last)] do
    last = last - 1
  end
  local first = last + 1
  while first > 1 and not BLANK[text:byte(first - 1)] do
    first = first - 1
    if last - first >= most then
      return ""
    end
  end
  return text:sub(first, last)
end


local function begins(text, start)
  return text:sub(1, #start) == start
end


-- Reports whether a header names the caller or the project. Only the gateway may set those.
function headers.is_identity(name)
  local plain = name:lower():gsub("_", "-")
  for _, family in ipairs(FAMILIES) do
    if begins(plain, family) then
      return true
    end
  end
  return false
end


local function judge(name, plain)
  local lower = name:lower()
  if SET_BY_KONG[plain] or FRAMING[plain] then
    return plain ~= lower and headers.REMOVED
  end
  if plain == "forwarded" or begins(plain, "x-forwarded-") or headers.is_identity(plain) then
    return headers.REMOVED
  end
  return false
end


-- Callers send few different names, unless they invent them to fill memory.
local MOST_NAMES = 1000
local judged, plain_names, names = {}, {}, 0

-- REMOVED or false; and the name in the form in which a CGI-like upstream sees it, in lowercase with - for _.
function headers.fate(name)
  local known = judged[name]
  if known ~= nil then
    return known, plain_names[name]
  end
  if names >= MOST_NAMES then
    judged, plain_names, names = {}, {}, 0
  end
  local plain = (name:lower():gsub("_", "-"))
  local fate = judge(name, plain)
  judged[name], plain_names[name], names = fate, plain, names + 1
  return fate, plain
end


-- Headers that a Connection line may not name: Kong would remove the caller's identity, or the length or address
-- without which a message cannot be forwarded.
local function is_kept(token, own)
  local name = token:lower()
  return FRAMING[name] or name == "host" or headers.is_identity(name) or (own and own[(name:gsub("_", "-"))])
end


-- Kong acts only on the first Connection line, and on every token in it. Returns one line for all of them, without the
-- tokens that Kong must not act on. These include own, the names in lowercase of headers that the route sets, and
-- changed, those of transforms. Returns nil if Kong may read the original.
function headers.harmless_connection(lines, own, changed)
  if lines == nil or lines == "close" or lines == "keep-alive" then
    return nil
  end
  local several = type(lines) == "table"
  local tokens, dropped = {}, false
  for token in (several and table.concat(lines, ",") or lines):gmatch("[^%s,]+") do
    if is_kept(token, own) or (changed and changed[token:lower()]) then
      dropped = true
    else
      tokens[#tokens + 1] = token
    end
  end
  return (several or dropped) and table.concat(tokens, ", ") or nil
end


-- Adds Cache-Control to a call that has only its predecessor Pragma (RFC 9111, section 5.4),
-- as the hosted gateway does before HTTP/2.
function headers.complete(received)
  local pragma = received["pragma"]
  if type(pragma) == "table" then
    pragma = pragma[1]
  end
  if pragma == "no-cache" and received["cache-control"] == nil and kong.request.get_http_version() < 2 then
    kong.service.request.set_header("Cache-Control", "no-cache")
  end
end


return headers
