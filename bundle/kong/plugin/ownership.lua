-- SPDX-License-Identifier: Apache-2.0
--
-- Records or removes owners from the response to a call. The response is streamed to the caller as it comes, and read
-- when the call is over.

local headers = require "kong.plugins.postern-auth.headers"
local json = require "kong.plugins.postern-auth.json"
local objects = require "kong.plugins.postern-auth.objects"
local openfga = require "kong.plugins.postern-auth.openfga"

local ownership = {}

-- The longest JSON response that an object is read from, in bytes, as on the hosted gateway.
local MOST = 1024 * 1024

local TOO_LONG = "the response has more than " .. MOST .. " bytes"


-- The reason why no object can be read from a response with this head, nil if it may have one. gzip is the only coding
-- that is decoded.
local function unreadable(kind, coding)
  if coding and coding ~= "identity" and coding ~= "gzip" and coding ~= "x-gzip" then
    return "the response is compressed, but not with gzip"
  end
  kind = type(kind) == "string" and headers.trimmed(kind:match("^[^;]*"), headers.SPACE):lower() or ""
  if kind ~= "application/json" and kind:sub(-5) ~= "+json" then
    return "the type of the response is not that of JSON"
  end
  return nil
end


-- Reports whether the object is read from the response, and not only from the path of the call.
local function reads(tracked)
  return tracked.rule.remembered ~= nil and tracked.rule.remembered.reads == true
end


-- Stores the head of the upstream's response.
function ownership.answered(tracked)
  if not tracked then
    return
  end
  tracked.accepted = ngx.status >= 200 and ngx.status < 300
  tracked.parts, tracked.length = {}, 0
  if tracked.accepted and reads(tracked) then
    local coding = ngx.header["Content-Encoding"]
    if type(coding) == "table" then
      coding = table.concat(coding, ", ")
    end
    coding = coding and coding:lower() or nil
    tracked.gzip = coding == "gzip" or coding == "x-gzip"
    tracked.problem = unreadable(ngx.header["Content-Type"], coding)
  end
end


-- Stores a piece of its body.
function ownership.received(tracked)
  local piece = tracked and tracked.accepted and ngx.arg[1]
  if not piece or piece == "" or tracked.problem or not reads(tracked) then
    return
  end
  tracked.length = tracked.length + #piece
  if tracked.length <= MOST then
    tracked.parts[#tracked.parts + 1] = piece
  else
    tracked.parts, tracked.problem = {}, TOO_LONG
  end
end


-- The text of a gzip file (RFC 1952); nil and the problem if it is invalid or too long.
local function inflated(text)
  local at, parts, length = 1, {}, 0
  local done, problem = require("ffi-zlib").inflateGzip(function(most)
    local piece = text:sub(at, at + most - 1)
    at = at + most
    return piece ~= "" and piece or nil
  end, function(piece)
    parts[#parts + 1], length = piece, length + #piece
    if length > MOST then
      return nil, TOO_LONG
    end
    return true
  end)
  if not done then
    return nil, length > MOST and TOO_LONG or "the response cannot be decompressed: " .. tostring(problem)
  end
  return table.concat(parts)
end


-- JSON in which whole numbers are texts with the same digits, and other numbers are true: those name no object,
-- although a reader turns 1e3 into 1000, and Lua rounds long ones.
local function spelled(text)
  local out, at = {}, 1
  while at do
    local from = text:find('"', at, true)
    out[#out + 1] = text:sub(at, (from or 0) - 1):gsub("-?%d[%d.eE+-]*", function(number)
      return number:find("^-?%d+$") and '"' .. number .. '"' or "true"
    end)
    local ends = from and text:find('["\\]', from + 1)
    while ends and text:sub(ends, ends) == "\\" do
      ends = text:find('["\\]', ends + 2)
    end
    out[#out + 1] = from and text:sub(from, ends) or nil
    at = ends and ends + 1
  end
  return table.concat(out)
end


-- The object that the response names; nil and the problem if it does not name one.
local function remembered(tracked)
  if not reads(tracked) then
    return objects.text(tracked.rule.remembered, tracked.segments)
  end
  local text, problem = table.concat(tracked.parts), tracked.problem
  if not problem and tracked.gzip then
    text, problem = inflated(text)
  end
  if problem then
    return nil, problem
  end
  local document = json.value(text) ~= nil and json.value(spelled(text))
  if type(document) ~= "table" then
    return nil, "the response is not JSON"
  end
  local object = objects.text(tracked.rule.remembered, tracked.segments, document)
  return object, not object and "the response does not name it" or nil
end


local function report(_, rule, problem)
  -- Lower levels are not logged: see KONG_LOG_LEVEL in docker-compose.yaml.
  kong.log.crit("the rule ", rule, " could not record an owner: ", problem)
end


-- Acts on the response, after it was sent.
function ownership.ended(tracked)
  if not tracked or not tracked.accepted then
    return
  end
  local change, problem = { user = tracked.user, tenant = tracked.tenant }, nil
  if tracked.rule.forgotten then
    change.forget = objects.text(tracked.rule.forgotten, tracked.segments)
  else
    change.remember, problem = remembered(tracked)
  end
  if problem then
    -- Not in the call's own context, where nginx would add the request line, with keys in the query.
    ngx.timer.at(0, report, tracked.rule.id, problem)
  end
  if change.remember or change.forget then
    openfga.change(tracked.server, change)
  end
end


return ownership
