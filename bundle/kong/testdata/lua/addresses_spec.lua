local strict = require "strict"
local check, equal = strict.check, strict.equal
local addresses = require "addresses"

local function hex(bytes)
  return bytes and (bytes:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

check("addresses are read", function()
  for text, want in pairs({
    ["0.0.0.0"] = "00000000", ["192.0.2.255"] = "c00002ff", ["::"] = ("00"):rep(16), ["::1"] = ("00"):rep(15) .. "01",
    ["2001:db8::1"] = "20010db8" .. ("00"):rep(11) .. "01", ["1:2:3:4:5:6:7:8"] = "00010002000300040005000600070008",
    ["FE80::A%eth0"] = "fe80" .. ("00"):rep(13) .. "0a", ["1::"] = "0001" .. ("00"):rep(14),
    ["::ffff:192.0.2.1"] = "c0000201", ["::FFFF:c000:0201"] = "c0000201", ["64:ff9b::192.0.2.33"] = "0064ff9b" .. ("00"):rep(8) .. "c0000221",
    ["1:2:3:4:5:6:192.0.2.1"] = "000100020003000400050006c0000201",
  }) do
    equal(hex(addresses.parse(text)), want, text)
  end
end)

check("a text that is not an address is refused", function()
  for _, text in ipairs({ "", "unix:", "localhost", "256.1.1.1", "1.2.3", "1.2.3.4.5", "1.2.3.4 ", "0x1.2.3.4", "1.2.3.-4", ":", ":::", "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::1.2.3", "::1.2.3.4:5", "1:2:3:4:5:6:7:1.2.3.4", "1:2:3:4:5:6:7::8", "1:2:3:4:5:6:7:", ":1:2:3:4:5:6:7" }) do
    equal(addresses.parse(text), nil, text)
  end
end)

check("one address has one text", function()
  equal(addresses.canonical("::ffff:192.0.2.1"), "192.0.2.1")
  equal(addresses.canonical("192.0.2.1"), "192.0.2.1")
  equal(addresses.canonical("2001:db8::1"), "2001:db8::1")
  equal(addresses.canonical("unix:"), "unix:")
end)

local function lies(range, address)
  return addresses.listed(range, addresses.parse(address))
end

check("ranges hold what begins as they do", function()
  for _, case in ipairs({
    { "192.0.2.0/24", "192.0.2.255", true }, { "192.0.2.0/24", "192.0.3.0", false }, { "192.0.2.0/24", "::ffff:192.0.2.9", true },
    { "192.0.2.128/25", "192.0.2.127", false }, { "192.0.2.128/25", "192.0.2.128", true }, { "10.0.0.0/9", "10.127.255.255", true },
    { "10.0.0.0/9", "10.128.0.0", false }, { "192.0.2.7/32", "192.0.2.7", true }, { "192.0.2.7/32", "192.0.2.6", false },
    { "0.0.0.0/0", "255.1.2.3", true }, { "0.0.0.0/0", "2001:db8::1", false }, { "::/0", "192.0.2.1", false }, { "::/0", "2001:db8::1", true },
    { "2001:db8::/33", "2001:db8:7fff::1", true }, { "2001:db8::/33", "2001:db8:8000::1", false }, { "::1/128", "::1", true }, { "::1/128", "::2", false },
    { "::ffff:192.0.2.0/120", "192.0.2.1", false }, { "192.0.2.0/24,::1/128", "::1", true }, { "192.0.2.0/24,::1/128", "::2", false },
    { "192.0.2.0/31,192.0.2.4/30", "192.0.2.7", true }, { "192.0.2.0/24", "unix:", false }, { "0.0.0.0/0,::/0", "unix:", false },
  }) do
    equal(lies(case[1], case[2]), case[3], case[2] .. " in " .. case[1])
  end
end)

check("a list that cannot be read holds nothing", function()
  for _, text in ipairs({ "", "192.0.2.1", "192.0.2.0/33", "::/129", "192.0.2.0/-1", "192.0.2.0/", "x/8", "192.0.2.0/24,x", "1.2.3.4.5/8" }) do
    equal(lies(text, "192.0.2.1"), false, text)
  end
end)

check("what is denied is out, and where something is allowed, all else is out", function()
  local here, other = addresses.parse("192.0.2.1"), addresses.parse("2001:db8::1")
  local function admitted(allow, deny, address)
    return addresses.admitted({ allow = allow, deny = deny }, address)
  end
  equal(admitted({}, {}, here), true)
  equal(admitted({}, {}, nil), true)
  equal(admitted({ "192.0.2.0/24" }, {}, here), true)
  equal(admitted({ "192.0.2.0/24" }, {}, other), false)
  equal(admitted({ "192.0.2.0/24" }, {}, nil), false)
  equal(admitted({}, { "192.0.2.0/24" }, here), false)
  equal(admitted({}, { "192.0.2.0/24" }, other), true)
  equal(admitted({ "192.0.2.1/32" }, { "192.0.2.0/24" }, here), false)
  equal(admitted({ "192.0.2.0/24", "2001:db8::/32" }, { "192.0.2.1/32" }, other), true)
  equal(admitted({ "bad" }, {}, here), false)
  equal(admitted({}, { "bad" }, here), false)
end)

check("rules are read once", function()
  local rules = { allow = { "192.0.2.0/24" }, deny = {} }
  equal(addresses.admitted(rules, addresses.parse("192.0.2.1")), true)
  rules.allow[1] = "bad"
  equal(addresses.admitted(rules, addresses.parse("192.0.2.1")), true)
end)

strict.done()
