-- SPDX-License-Identifier: Apache-2.0
--
-- The paths of rules, and which of them matches the path of a call. The grammar is that of the hosted gateway:
-- /orders/{id}, /reports/{id}.json, /admin/** for a path and all below.

local templates = {}

local find, sub = string.find, string.sub
local NONE = {}


local function unescaped(hex)
  return string.char(tonumber(hex, 16))
end


-- Text with every valid escape decoded once.
function templates.decoded(text)
  if not find(text, "%", 1, true) then
    return text
  end
  return (text:gsub("%%(%x%x)", unescaped))
end


-- The decoded text before and after the parameter of a segment, and its name: prefix, name,
-- suffix. nil for a segment without one.
function templates.split(segment)
  local prefix, name, suffix = segment:match("^([^{}]*){([^{}]+)}([^{}]*)$")
  if not name then
    return nil
  end
  return templates.decoded(prefix), name, templates.decoded(suffix)
end


-- The node for segments with text around their parameter. A node has its patterns in order: the longest text before the
-- parameter comes first, and of two with the same length, the longer text after it.
local function pattern(node, prefix, suffix)
  node.patterns = node.patterns or {}
  for _, one in ipairs(node.patterns) do
    if one.prefix == prefix and one.suffix == suffix then
      return one.node
    end
  end
  local added = { prefix = prefix, suffix = suffix, node = {} }
  table.insert(node.patterns, added)
  table.sort(node.patterns, function(a, b)
    if #a.prefix ~= #b.prefix then
      return #a.prefix > #b.prefix
    end
    if #a.suffix ~= #b.suffix then
      return #a.suffix > #b.suffix
    end
    return a.prefix .. "{" .. a.suffix < b.prefix .. "{" .. b.suffix
  end)
  return added.node
end


-- A table with facts about a path: the same for all paths that are equally specific and match the same calls.
function templates.place(node, path)
  for segment in path:gmatch("[^/]+") do
    if segment == "**" or segment:match("^{[^{}]*%.%.%.}$") then
      node.subtree = node.subtree or {}
      return node.subtree
    end
    local prefix, name, suffix = templates.split(segment)
    if not name then
      local literal = templates.decoded(segment)
      node.literals = node.literals or {}
      node.literals[literal] = node.literals[literal] or {}
      node = node.literals[literal]
    elseif prefix == "" and suffix == "" then
      node.template = node.template or {}
      node = node.template
    else
      node = pattern(node, prefix, suffix)
    end
  end
  node.ends = node.ends or {}
  return node.ends
end


local function matches(one, segment)
  return #segment > #one.prefix + #one.suffix
    and sub(segment, 1, #one.prefix) == one.prefix
    and sub(segment, #segment - #one.suffix + 1) == one.suffix
end


-- The result of accept for the most specific path that matches decoded segments and for which it returns something, or
-- nil. In the first segment in which two paths differ, a literal comes before a template with text, that before a
-- template, and that before a subtree.
function templates.find(node, segments, at, accept)
  local segment, found = segments[at], nil
  if segment == nil then
    found = node.ends and accept(node.ends)
    return found or node.subtree and accept(node.subtree) or nil
  end
  local literal = node.literals and node.literals[segment]
  found = literal and templates.find(literal, segments, at + 1, accept)
  for _, one in ipairs(not found and node.patterns or NONE) do
    found = matches(one, segment) and templates.find(one.node, segments, at + 1, accept)
    if found then
      return found
    end
  end
  found = found or node.template and templates.find(node.template, segments, at + 1, accept)
  return found or node.subtree and accept(node.subtree) or nil
end


return templates
