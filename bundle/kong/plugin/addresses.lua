-- SPDX-License-Identifier: Apache-2.0
--
-- IP addresses and address ranges, IPv4 and IPv6 (RFC 4291, section 2.2; RFC 4632, section 3.1). An address is the
-- string of its 4 or 16 bytes; an IPv4 address written as IPv6 (::ffff:192.0.2.1) is the IPv4 address.

local floor = math.floor

local addresses = {}

local MAPPED = ("\0"):rep(10) .. "\255\255"


local function ipv4(text)
  local a, b, c, d = text:match("^(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)%.(%d%d?%d?)$")
  if not a then
    return nil
  end
  a, b, c, d = tonumber(a), tonumber(b), tonumber(c), tonumber(d)
  if a > 255 or b > 255 or c > 255 or d > 255 then
    return nil
  end
  return string.char(a, b, c, d)
end


-- The bytes of hexadecimal groups separated by colons.
local function groups(text)
  if text == "" then
    return ""
  end
  local bytes = {}
  for group in (text .. ":"):gmatch("([^:]*):") do
    if not group:match("^%x%x?%x?%x?$") then
      return nil
    end
    local value = tonumber(group, 16)
    bytes[#bytes + 1] = string.char(floor(value / 256), value % 256)
  end
  return table.concat(bytes)
end


local function ipv6(text)
  local before, quad = text:match("^(.*:)([%d.]+%.[%d.]+)$")
  if quad then
    local bytes = ipv4(quad)
    if not bytes then
      return nil
    end
    local a, b, c, d = bytes:byte(1, 4)
    text = before .. ("%x:%x"):format(a * 256 + b, c * 256 + d)
  end
  local head, tail = text:match("^(.-)::(.*)$")
  if not head then
    local all = groups(text)
    return all and #all == 16 and all or nil
  end
  head, tail = groups(head), groups(tail)
  if not head or not tail or #head + #tail > 14 then
    return nil
  end
  return head .. ("\0"):rep(16 - #head - #tail) .. tail
end


local function bytes_of(text)
  return text:find(":", 1, true) and ipv6(text) or ipv4(text)
end


-- nil for a text that is not an address, such as "unix:".
function addresses.parse(text)
  local bytes = bytes_of((text:gsub("%%.*$", ""))) -- without the zone of a link
  if bytes and #bytes == 16 and bytes:sub(1, 12) == MAPPED then
    return bytes:sub(13)
  end
  return bytes
end


-- One text for each address: the same caller may come through an IPv6 socket.
function addresses.canonical(text)
  return text:match("^::[fF][fF][fF][fF]:(%d+%.%d+%.%d+%.%d+)$") or text
end


-- The ranges of a list such as { "192.0.2.0/24", "2001:db8::/32" }; nil if one of them is invalid.
local function ranges_of(list)
  local out = {}
  for i, text in ipairs(list) do
    local first, bits = text:match("^([%x:.]+)/(%d+)$")
    local bytes = first and bytes_of(first)
    bits = tonumber(bits)
    if not bytes or bits > 8 * #bytes then
      return nil
    end
    out[i] = { bytes = bytes, bits = bits }
  end
  return out
end


-- Reports whether the first bits of two bytes are the same.
local function same_bits(a, b, bits)
  local rest = 2 ^ (8 - bits)
  return floor(a / rest) == floor(b / rest)
end


local function within(range, address)
  local bytes, whole = range.bytes, floor(range.bits / 8)
  if #bytes ~= #address or bytes:sub(1, whole) ~= address:sub(1, whole) then
    return false
  end
  local more = range.bits - 8 * whole
  return more == 0 or same_bits(bytes:byte(whole + 1), address:byte(whole + 1), more)
end


-- nil is not an address, so it is in no range.
local function contain(ranges, address)
  if not address then
    return false
  end
  for _, range in ipairs(ranges) do
    if within(range, address) then
      return true
    end
  end
  return false
end


-- Reports whether an address is in one of the ranges in a text, separated by commas.
function addresses.listed(text, address)
  local list = {}
  for range in text:gmatch("[^,]+") do
    list[#list + 1] = range
  end
  local ranges = ranges_of(list)
  return ranges ~= nil and contain(ranges, address)
end


-- Rules are parsed once: a call should not wait for a hundred of them.
local read = setmetatable({}, { __mode = "k" })

local function read_rules(rules)
  local known = read[rules]
  if not known then
    known = { allow = ranges_of(rules.allow), deny = ranges_of(rules.deny) }
    read[rules] = known
  end
  return known
end


-- Reports whether rules admit an address: denied addresses are refused, and if any are allowed, all others are refused.
-- Invalid rules refuse every call.
function addresses.admitted(rules, address)
  local known = read_rules(rules)
  if not known.allow or not known.deny or contain(known.deny, address) then
    return false
  end
  return #known.allow == 0 or contain(known.allow, address)
end


return addresses
