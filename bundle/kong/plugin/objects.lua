-- SPDX-License-Identifier: Apache-2.0
--
-- The objects of rules that require owners, such as order:{id}, and their names at OpenFGA.

local templates = require "kong.plugins.postern-auth.templates"

local objects = {}

-- The longest object, and the longest value of a response in it, in bytes.
local MOST, MOST_OF_VALUE = 512, 256

local ANSWER = "^response%.(.+)$"


-- The places of the parameters in a rule's path, by name: the segment, and how many bytes of text the segment has
-- around the parameter.
local function places_in(path)
  local places, at = {}, 0
  for segment in path:gmatch("[^/]+") do
    at = at + 1
    local prefix, name, suffix = templates.split(segment)
    if name and not places[name] then
      places[name] = { segment = at, prefix = #prefix, suffix = #suffix }
    end
  end
  return places
end


-- An object of a rule with that path, for objects.text, or nil. With answer, its names in braces may refer to values of
-- a response; reads says that one does.
function objects.compile(text, path, answer)
  if not text or text == "" then
    return nil
  end
  local parts, places, from = {}, places_in(path), 1
  while true do
    local first, last, name = text:find("{([^}]*)}", from)
    local literal = text:sub(from, (first or 0) - 1)
    if literal ~= "" then
      parts[#parts + 1] = { text = literal }
    end
    if not first then
      return parts
    end
    local way = answer and name:match(ANSWER)
    if way then
      local names = {}
      for one in way:gmatch("[^.]+") do
        names[#names + 1] = one
      end
      parts[#parts + 1], parts.reads = { way = names }, true
    else
      parts[#parts + 1] = { place = places[name] or { segment = 0, prefix = 0, suffix = 0 } }
    end
    from = last + 1
  end
end


local function escape(c)
  return ("%%%02X"):format(c:byte())
end


-- The value at a path in a document; nil if there is none, or it cannot name an object.
local function value_at(document, way)
  local value = document
  for _, name in ipairs(way) do
    if type(value) ~= "table" then
      return nil
    end
    local place = name:match("^%d+$") and tonumber(name)
    local inside = value[name]
    if inside == nil and place then
      inside = value[place + 1]
    end
    value = inside
  end
  return type(value) == "string" and #value <= MOST_OF_VALUE and value or nil
end


-- The object in its canonical form, with the decoded segments of a path and the document of a response; nil if there is
-- no such object.
function objects.text(parts, segments, document)
  local out = {}
  for i, part in ipairs(parts) do
    local text = part.text
    if not text then
      local value
      if part.way then
        value = value_at(document, part.way)
      else
        local segment, place = segments[part.place.segment], part.place
        value = segment and segment:sub(place.prefix + 1, #segment - place.suffix)
      end
      if not value or value == "" then
        return nil
      end
      text = value:gsub("[^%w%-._~!$&'()*+,=:@]", escape)
    end
    out[i] = text
  end
  local whole = table.concat(out)
  return #whole <= MOST and whole or nil
end


-- A text as the id of an object at OpenFGA; see bundle/openfga in Postern's source.
local function id(text, most)
  local escaped = text:gsub("[^%w%-_.]", escape)
  if #escaped <= most then
    return escaped
  end
  local hasher = require("resty.sha256"):new()
  hasher:update(text)
  return "~" .. require("resty.string").to_hex(hasher:final())
end


-- The name of an object of a tenant at OpenFGA.
function objects.name(tenant, object)
  return "object:" .. id(tenant, 120) .. "." .. id(object, 119)
end


-- The name of a user at OpenFGA.
function objects.user(name)
  return "user:" .. id(name, 240)
end


return objects
