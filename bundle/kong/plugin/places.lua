-- SPDX-License-Identifier: Apache-2.0
--
-- The places where callers of a route send their keys, as on the hosted gateway: headers, query parameters, cookies, or
-- an entry of Sec-WebSocket-Protocol. What they have is removed before the call is forwarded.

local headers = require "kong.plugins.postern-auth.headers"
local keys = require "kong.plugins.postern-auth.keys"

local trimmed = headers.trimmed

local places = {}

local TOKEN_HEADER, COOKIE, PROTOCOL = "authorization", "cookie", "sec-websocket-protocol"

-- The protocols of WebSockets that are the gateway's: its own, and how one with a key begins.
local OWN_PROTOCOL, KEY_PROTOCOL = "postern", "postern.key."

local DEFAULT = { { header = "X-API-Key" } }


local function plain(name)
  return (name:lower():gsub("_", "-"))
end


-- The places in a route's settings, as the functions below need them; without settings, X-API-Key alone. stripped has
-- the names of headers that aren't forwarded, in lowercase with - for _, because upstreams could take one spelling for
-- another. Authorization isn't among them: that depends on the call.
function places.compile(list)
  local from = { headers = {}, stripped = {}, query = {}, cookies = {} }
  for _, place in ipairs(list or DEFAULT) do
    if place.header and plain(place.header) == TOKEN_HEADER then
      from.authorization = place
    elseif place.header then
      from.headers[#from.headers + 1] = {
        name = place.header:lower(), prefix = place.prefix, prefix_optional = place.prefix_optional,
      }
      from.stripped[plain(place.header)] = true
    elseif place.query then
      from.query[place.query] = true
    elseif place.cookie then
      from.cookies[place.cookie] = true
    elseif place.websocket_protocol then
      from.protocol = true
    end
  end
  from.takes_query, from.takes_cookies = next(from.query) ~= nil, next(from.cookies) ~= nil
  return from
end


-- The text after the prefix of a place; the whole line, if it may come without; or nil.
local function after_prefix(line, place)
  line = trimmed(line)
  local prefix = place.prefix
  if not prefix then
    return line
  end
  if line:sub(1, #prefix):lower() == prefix:lower() then
    local rest = line:sub(#prefix + 1)
    -- A word, such as the name of a scheme, ends at a blank.
    if rest == "" or not prefix:find("%w$") or rest:find("^[ \t]") then
      return trimmed(rest)
    end
  end
  return place.prefix_optional and line or nil
end


-- A repeated header is a list of its lines.
local function lines_of(value)
  return type(value) == "table" and value or { value }
end


-- nginx decodes the arguments of a query in this way.
local function unescaped(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end


-- Calls each with every part of a text between separators, empty ones too.
local function each_part(text, separator, each)
  local from = 1
  while true do
    local at = text:find(separator, from, true)
    each(text:sub(from, at and at - 1))
    if not at then
      return
    end
    from = at + 1
  end
end


local function decoded(text)
  if text:find("[^%w_-]") then
    return ""
  end
  return ngx.decode_base64((text:gsub("-", "+"):gsub("_", "/"))) or ""
end


-- Adds what a call has in the places other than headers.
local function read_others(from, received, add)
  if from.takes_query then
    each_part(kong.request.get_raw_query(), "&", function(part)
      local name, value = part:match("^([^=]*)=?(.*)$")
      if from.query[unescaped(name)] then
        add(unescaped(value))
      end
    end)
  end
  local cookies = from.takes_cookies and rawget(received, COOKIE)
  for _, line in ipairs(cookies and lines_of(cookies) or {}) do
    each_part(line, ";", function(pair)
      local name, value = pair:match("^([^=]*)=?(.*)$")
      if from.cookies[trimmed(name)] then
        add(trimmed(value))
      end
    end)
  end
  local protocols = from.protocol and rawget(received, PROTOCOL)
  for _, line in ipairs(protocols and lines_of(protocols) or {}) do
    each_part(line, ",", function(entry)
      entry = trimmed(entry)
      if entry:sub(1, #KEY_PROTOCOL) == KEY_PROTOCOL then
        add(decoded(entry:sub(#KEY_PROTOCOL + 1)))
      end
    end)
  end
end


-- What Authorization has, if it is a place: its value, and whether the value is surely a key, because it can't be a
-- token or a credential of another scheme.
local function read_authorization(place, line, tokens)
  local key = after_prefix(line, place)
  if not key then
    return nil
  end
  line = trimmed(line)
  local foreign = key == line and key:find("[ \t]")
  local is_token = line:lower():find("^bearer[ \t]") or line:lower() == "bearer"
  return key, keys.well_formed(key) or not (foreign or (tokens and is_token))
end


-- What a call has in the places: the number of values, and the first one; after them the value in Authorization, if it
-- has one, and whether it is surely a key. tokens is whether the route accepts tokens.
function places.read(from, received, tokens)
  local count, text = 0, nil
  local function add(value)
    count, text = count + 1, text or value
  end
  for _, place in ipairs(from.headers) do
    local value = rawget(received, place.name)
    if type(value) == "table" then
      count = count + #value
    elseif value then
      local key = after_prefix(value, place)
      if key then
        add(key)
      end
    end
  end
  if from.takes_query or from.takes_cookies or from.protocol then
    read_others(from, received, add)
  end
  local line = from.authorization and rawget(received, TOKEN_HEADER)
  if type(line) == "table" then
    return tokens and count or count + #line, text -- of two tokens, both are refused
  elseif line then
    return count, text, read_authorization(from.authorization, line, tokens)
  end
  return count, text
end


-- Reports whether one of the lines of Authorization has the key, alone or after a scheme.
function places.repeats(lines, key)
  key = trimmed(key)
  for _, line in ipairs(lines and lines_of(lines) or {}) do
    line = trimmed(line)
    if key ~= "" and line:sub(-#key) == key and (#line == #key or line:sub(-#key - 1, -#key - 1):find("[ \t]")) then
      return true
    end
  end
  return false
end


-- The text without some of its parts, and with the bytes of the others unchanged; nil if nothing is left.
local function without(text, separator, removes)
  local kept, removed = {}, false
  each_part(text, separator, function(part)
    if removes(part) then
      removed = true
    else
      kept[#kept + 1] = part
    end
  end)
  if not removed then
    return text
  end
  local rest = trimmed(table.concat(kept, separator))
  return rest ~= "" and rest or nil
end


local function strip_lines(name, value, separator, removes)
  local kept = {}
  for _, line in ipairs(lines_of(value)) do
    kept[#kept + 1] = without(line, separator, removes)
  end
  kong.service.request.clear_header(name)
  if kept[1] then
    kong.service.request.set_header(name, #kept == 1 and kept[1] or kept)
  end
end


local function strip_query(from)
  local query = kong.request.get_raw_query()
  if query == "" then
    return
  end
  local rest = without(query, "&", function(part)
    return from.query[unescaped(part:match("^[^=]*"))] == true
  end)
  if rest ~= query then
    kong.service.request.set_raw_query(rest or "")
  end
end


-- Removes keys from the query, cookies and protocols of WebSockets that the upstream gets.
function places.strip(from, received)
  if from.takes_query then
    strip_query(from)
  end
  if not (from.takes_cookies or from.protocol) then
    return
  end
  for name, value in pairs(received) do
    local lower = plain(name)
    if from.takes_cookies and lower == COOKIE then
      strip_lines(name, value, ";", function(pair)
        return from.cookies[trimmed(pair:match("^[^=]*"))] == true
      end)
    elseif from.protocol and lower == PROTOCOL then
      strip_lines(name, value, ",", function(entry)
        entry = trimmed(entry)
        return entry == OWN_PROTOCOL or entry:sub(1, #KEY_PROTOCOL) == KEY_PROTOCOL
      end)
    end
  end
end


-- Reports whether the caller offers the gateway's own protocol of WebSockets.
function places.offers_own(from, received)
  local offered, value = false, from.protocol and rawget(received, PROTOCOL)
  for _, line in ipairs(value and lines_of(value) or {}) do
    each_part(line, ",", function(entry)
      offered = offered or trimmed(entry) == OWN_PROTOCOL
    end)
  end
  return offered
end


-- Answers the handshake of a WebSocket with the gateway's protocol, if the caller offers it and the upstream has
-- selected none: a browser would end the connection.
function places.select_own(offered)
  if offered and ngx.status == 101 and (kong.response.get_header("Sec-WebSocket-Protocol") or "") == "" then
    kong.response.set_header("Sec-WebSocket-Protocol", OWN_PROTOCOL)
  end
end


return places
