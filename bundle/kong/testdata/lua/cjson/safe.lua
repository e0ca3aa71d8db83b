-- A stand-in for Kong's library: a reader of JSON (RFC 8259), as far as the plugin needs
-- one. It accepts what Kong's accepts, and more: halves of surrogate pairs, and any depth. What the stand-in for resty.openssl.pkey writes is read too.
local safe = { null = setmetatable({}, { __tostring = function() return "null" end }), array_mt = {} }

local read

local function skip(text, at)
  return text:find("[^ \t\r\n]", at) or #text + 1
end

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

-- A code unit as UTF-8 writes a character, half of a surrogate pair too.
local function encoded(code)
  if code < 0x80 then
    return string.char(code)
  elseif code < 0x800 then
    return string.char(0xC0 + math.floor(code / 64), 0x80 + code % 64)
  end
  return string.char(0xE0 + math.floor(code / 4096), 0x80 + math.floor(code / 64) % 64, 0x80 + code % 64)
end

local function read_text(text, at)
  local parts, from = {}, at + 1
  while true do
    local ends = assert(text:find('["\\]', from), "unfinished text")
    parts[#parts + 1] = text:sub(from, ends - 1)
    if text:sub(ends, ends) == '"' then
      return table.concat(parts), ends + 1
    end
    local escape = text:sub(ends + 1, ends + 1)
    if escape == "u" then
      local code = assert(tonumber(text:sub(ends + 2, ends + 5), 16), "escape")
      parts[#parts + 1], from = encoded(code), ends + 6
    else
      parts[#parts + 1], from = ESCAPES[escape] or escape, ends + 2
    end
  end
end

-- The members of a list or an object up to its closing sign.
local function read_members(text, at, closing, member)
  at = skip(text, at + 1)
  if text:sub(at, at) == closing then
    return at + 1
  end
  while true do
    at = skip(text, member(at))
    local sign = text:sub(at, at)
    if sign == closing then
      return at + 1
    end
    assert(sign == ",", "no comma")
    at = skip(text, at + 1)
  end
end

local function read_list(text, at)
  local list = setmetatable({}, safe.array_mt)
  return list, read_members(text, at, "]", function(from)
    list[#list + 1], from = read(text, from)
    return from
  end)
end

local function read_object(text, at)
  local object = {}
  return object, read_members(text, at, "}", function(from)
    assert(text:sub(from, from) == '"', "no name")
    local name, colon = read_text(text, from)
    colon = skip(text, colon)
    assert(text:sub(colon, colon) == ":", "no colon")
    object[name], from = read(text, skip(text, colon + 1))
    return from
  end)
end

local WORDS = { ["true"] = true, ["false"] = false, ["null"] = safe.null }

function read(text, at)
  local sign = text:sub(at, at)
  if sign == '"' then
    return read_text(text, at)
  elseif sign == "[" then
    return read_list(text, at)
  elseif sign == "{" then
    return read_object(text, at)
  end
  local number = text:match("^[%d.+-][%w.+-]*", at)
  if number then
    return assert(tonumber(number), "number"), at + #number
  end
  local word = assert(text:match("^%l+", at), "no value")
  assert(WORDS[word] ~= nil, word)
  return WORDS[word], at + #word
end

function safe.decode(text)
  if text:find("^jwk of") then
    return { x = "x of " .. text }
  end
  local worked, value, ends = pcall(read, text, skip(text, 1))
  if not worked or skip(text, ends) <= #text and text:byte(skip(text, ends)) ~= 0 then
    return nil, worked and "text behind the value" or value
  end
  return value
end

local function write(value)
  if type(value) ~= "table" then
    return type(value) == "string" and '"' .. value .. '"' or tostring(value)
  end
  local names, members = {}, {}
  if value[1] ~= nil then
    for i, one in ipairs(value) do
      members[i] = write(one)
    end
    return "[" .. table.concat(members, ",") .. "]"
  end
  for name in pairs(value) do
    names[#names + 1] = name
  end
  table.sort(names)
  for i, name in ipairs(names) do
    members[i] = '"' .. name .. '":' .. write(value[name])
  end
  return "{" .. table.concat(members, ",") .. "}"
end

safe.encode = write

function safe.new() return safe end
function safe.decode_invalid_numbers(on) assert(on == false) end
function safe.decode_array_with_array_mt(on) assert(on == true) end

return safe
