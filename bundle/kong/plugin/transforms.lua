-- SPDX-License-Identifier: Apache-2.0
--
-- Changes to headers and queries, as the hosted gateway makes them. Kong's own transformers cannot do that: for headers
-- of which nginx keeps only one line, they replace the caller's, leave a second one or write one twice; they read only
-- 1,000 arguments of a query; and they change a query after the call is signed.

local headers = require "kong.plugins.postern-auth.headers"

local transforms = {}

-- As many header lines as Kong returns.
local MOST_HEADERS = 1000

-- The headers of which nginx's Lua sets one line only. A change that would leave several joins
-- their values.
local ONE_LINE = {
  ["accept-encoding"] = true, ["accept-ranges"] = true, ["content-range"] = true, ["content-type"] = true,
  ["date"] = true, ["depth"] = true, ["destination"] = true, ["etag"] = true, ["expires"] = true,
  ["if-match"] = true, ["if-modified-since"] = true, ["if-none-match"] = true, ["if-range"] = true,
  ["if-unmodified-since"] = true, ["last-modified"] = true, ["location"] = true, ["overwrite"] = true,
  ["range"] = true, ["referer"] = true, ["refresh"] = true, ["user-agent"] = true,
}


-- The entries of a list, each a name and, after its first colon, a value.
local function split(list)
  local out = {}
  for i, entry in ipairs(list or {}) do
    local name, value = entry:match("^%s*([^:]-)%s*:%s*(.-)%s*$")
    out[i] = { name = name or entry, value = value }
  end
  return out
end


local function operations(doc)
  return doc and {
    remove = split(doc.remove), rename = split(doc.rename), replace = split(doc.replace), add = split(doc.add),
    append = split(doc.append),
  }
end


-- The names of the headers that operations change, in lowercase.
local function names_of(ops)
  local names = {}
  for operation, list in pairs(ops or {}) do
    for _, entry in ipairs(list) do
      names[entry.name:lower()] = true
      if operation == "rename" then
        names[entry.value:lower()] = true
      end
    end
  end
  return names
end


-- The changes of each environment by its id, ready for calls.
function transforms.store(docs)
  local stores = {}
  for id, doc in pairs(docs or {}) do
    local request = operations(doc.request)
    stores[id] = {
      request = request, names = names_of(request), query = operations(doc.query), response = operations(doc.response),
    }
  end
  return stores
end


local function lines_of(value)
  if value == nil then
    return {}
  end
  return type(value) == "table" and value or { value }
end


-- The headers that operations change, by name in lowercase: the name, and its new lines. sent has the original headers.
-- With by_sent, operations see the headers as they were sent; otherwise they see the result of the previous operations.
local function change(ops, sent, by_sent)
  local now = {}
  local function original(name)
    return lines_of(sent[name:lower()])
  end
  local function current(name)
    local one = now[name:lower()]
    return one and one.lines or original(name)
  end
  local function set(name, lines)
    if #lines > 1 and ONE_LINE[name:lower()] then
      lines = { table.concat(lines, ", ") }
    end
    now[name:lower()] = { name = name, lines = lines }
  end
  local seen = by_sent and original or current

  for _, entry in ipairs(ops.remove) do
    set(entry.name, {})
  end
  for _, entry in ipairs(ops.rename) do
    local lines = seen(entry.name)
    if #lines > 0 then
      set(entry.name, {})
      set(entry.value, lines)
    end
  end
  for _, entry in ipairs(ops.replace) do
    if #seen(entry.name) > 0 then
      set(entry.name, { entry.value })
    end
  end
  for _, entry in ipairs(ops.add) do
    if #seen(entry.name) == 0 then
      set(entry.name, { entry.value })
    end
  end
  for _, entry in ipairs(ops.append) do
    local lines = { unpack(current(entry.name)) }
    lines[#lines + 1] = entry.value
    set(entry.name, lines)
  end
  return now
end


-- Removes the headers that both a change and a Connection line name: they are for this connection only, so the change
-- must not see them.
local function drop_named(changes, connection)
  for _, line in ipairs(lines_of(connection)) do
    for token in line:gmatch("[^,]+") do
      token = headers.trimmed(token, headers.SPACE)
      if changes.names[token:lower()] then
        kong.service.request.clear_header(token)
      end
    end
  end
end


-- Headers are removed before they are set, because nginx would change only the first of two lines.
local function write(changed, target)
  for _, one in pairs(changed) do
    target.clear_header(one.name)
    if #one.lines > 0 then
      target.set_header(one.name, one.lines)
    end
  end
end


local function unescape(text)
  return (text:gsub("+", " "):gsub("%%(%x%x)", function(digits) return string.char(tonumber(digits, 16)) end))
end


local function escape(text)
  return (text:gsub('[%z\1-\32"#$%%&+,/:;<=>?@%[\\%]^`{|}\127-\255]', function(c)
    return ("%%%02X"):format(c:byte())
  end))
end


-- The values of each argument of a query by its name; true means one without an equals sign. Arguments without a name
-- are left out.
local function parse(query)
  local args = {}
  for part in (query .. "&"):gmatch("([^&]*)&") do
    local name, value = part:match("^([^=]*)=(.*)$")
    name = unescape(name or part)
    if name ~= "" then
      args[name] = args[name] or {}
      table.insert(args[name], value and unescape(value) or true)
    end
  end
  return args
end


-- The query of arguments, in sorted order.
local function format(args)
  local written = {}
  for name, values in pairs(args) do
    local texts = {}
    for i, value in ipairs(values) do
      texts[i] = escape(name) .. (value ~= true and "=" .. escape(value) or "")
    end
    written[#written + 1] = table.concat(texts, "&")
  end
  table.sort(written)
  return table.concat(written, "&")
end


-- The query after operations.
function transforms.query(ops, query)
  local args = parse(query)
  for _, entry in ipairs(ops.remove) do
    args[entry.name] = nil
  end
  for _, entry in ipairs(ops.rename) do
    local values = args[entry.name]
    if values then
      args[entry.name] = nil
      args[entry.value] = values
    end
  end
  for _, entry in ipairs(ops.replace) do
    if args[entry.name] then
      args[entry.name] = { entry.value }
    end
  end
  for _, entry in ipairs(ops.add) do
    args[entry.name] = args[entry.name] or { entry.value }
  end
  for _, entry in ipairs(ops.append) do
    local values = args[entry.name]
    if not values or (#values == 1 and values[1] == true) then
      values = {}
      args[entry.name] = values
    end
    values[#values + 1] = entry.value
  end
  return format(args)
end


-- Changes the call on its way to the upstream. connection has its Connection lines.
function transforms.request(changes, connection)
  drop_named(changes, connection)
  if changes.request then
    write(change(changes.request, kong.request.get_headers(MOST_HEADERS)), kong.service.request)
  end
  if changes.query then
    kong.service.request.set_raw_query(transforms.query(changes.query, kong.request.get_raw_query()))
  end
end


-- Changes the headers of a response on its way to the caller, even if the call was answered before this plugin saw it.
-- stores and routes are by their ids.
function transforms.response(stores, routes)
  local route = next(stores) and kong.router.get_route()
  local policy = route and routes[route.id]
  local changes = policy and policy.transforms and stores[policy.transforms]
  if changes and changes.response then
    write(change(changes.response, kong.response.get_headers(MOST_HEADERS), true), kong.response)
  end
end


return transforms
