local strict = require "strict"
local check, equal = strict.check, strict.equal
local transforms = require "transforms"

local function sorted(lines)
  local out = {}
  for i, line in ipairs(lines) do
    out[i] = line[1]:lower() .. ": " .. line[2]
  end
  table.sort(out)
  return table.concat(out, "|")
end

-- The header that a request with these lines has after the operations.
local function request(ops, lines, connection)
  local seen = strict.request({ lines = lines })
  transforms.request(transforms.store({ env = { request = ops } }).env, connection)
  return sorted(seen.lines)
end

check("each operation, of one line, two lines and an empty one", function()
  local one, two, empty = { { "Referer", "a" } }, { { "Referer", "a" }, { "referer", "b" } }, { { "Referer", "" } }
  for _, case in ipairs({
    { { remove = { "referer" } }, "", "", "", "" },
    { { rename = { "Referer:X-New" } }, "x-new: a", "x-new: a|x-new: b", "x-new: ", "" },
    { { replace = { "REFERER:r:s" } }, "referer: r:s", "referer: r:s", "referer: r:s", "" },
    { { add = { "Referer:n" } }, "referer: a", "referer: a|referer: b", "referer: ", "referer: n" },
    { { append = { "Referer:l" } }, "referer: a, l", "referer: a, b, l", "referer: , l", "referer: l" },
  }) do
    local ops, name = case[1], next(case[1])
    equal(request(ops, one), case[2], name .. " one line")
    equal(request(ops, two), case[3], name .. " two lines")
    equal(request(ops, empty), case[4], name .. " an empty line")
    equal(request(ops, {}), case[5], name .. " no line")
  end
end)

check("only headers of which nginx holds one line have their values joined", function()
  equal(request({ append = { "X-Mine:2", "X-Mine:3" } }, { { "x-mine", "1" } }), "x-mine: 1|x-mine: 2|x-mine: 3")
  equal(request({ rename = { "X-Mine:User-Agent" } }, { { "X-Mine", "1" }, { "X-Mine", "2" } }), "user-agent: 1, 2")
end)

check("each operation looks at what those before it left", function()
  local ops = {
    remove = { "X-Gone" }, rename = { "X-Old:X-New" },
    replace = { "X-New:r", "X-Old:r" }, add = { "X-Gone:a", "X-Old:a" },
    append = { "X-New:l" },
  }
  equal(request(ops, { { "X-Gone", "1" }, { "X-Old", "2" }, { "X-New", "3" }, { "X-Other", "4" } }),
    "x-gone: a|x-new: l|x-new: r|x-old: a|x-other: 4")
end)

check("headers that Connection names are not there for a change", function()
  local lines = { { "X-Mine", "1" }, { "X-Other", "2" }, { "X-Third", "3" } }
  equal(request({ rename = { "X-Mine:X-New" }, add = { "x-third:new" } }, lines, { "close, x-mine", "X-Third,X-Other" }),
    "x-other: 2|x-third: new")
end)

-- The header that an answer with these fields has after the operations.
local function answer(ops, fields, route)
  local seen = strict.request({ answer = fields, route = route or "r" })
  transforms.response(transforms.store({ env = { response = ops } }), { r = { transforms = "env" }, other = {} })
  local out = {}
  for name, value in pairs(seen.answer) do
    out[#out + 1] = name:lower() .. ": " .. (type(value) == "table" and table.concat(value, "+") or value)
  end
  table.sort(out)
  return table.concat(out, "|")
end

check("answers are changed by how they were sent", function()
  equal(answer({ remove = { "etag" }, add = { "ETag:n" } }, { etag = "a" }), "")
  equal(answer({ rename = { "etag:X-New" }, append = { "ETag:l" } }, { etag = "a" }), "etag: l|x-new: a")
  equal(answer({ append = { "location:b", "Link:c" } }, { location = "a", link = "a" }), "link: a+c|location: a, b")
  equal(answer({ add = { "X-New:n" } }, {}, "other"), "")
end)

check("queries", function()
  local ops = transforms.store({ env = { query = {
    remove = { "gone" }, rename = { "old:new" }, replace = { "known:r&s" }, add = { "added: a +" },
    append = { "flag:1" },
  } } }).env.query
  equal(transforms.query(ops, ""), "added=a%20%2B&flag=1")
  equal(transforms.query(ops, "gone=1&&=x&z&old=%41+&new=2&known=%zz&flag"),
    "added=a%20%2B&flag=1&known=r%26s&new=A%20&z")
  local many = ("a=1&"):rep(1500) .. "b=2"
  equal(transforms.query(ops, many), ("a=1&"):rep(1500) .. "added=a%20%2B&b=2&flag=1")
end)

check("a query is changed before it is signed", function()
  local seen = strict.request({ query = "b=1&a=2" })
  transforms.request(transforms.store({ env = { query = { add = { "c:3" } } } }).env)
  equal(kong.request.get_raw_query(), "a=2&b=1&c=3")
  equal(#seen.lines, 0)
end)

strict.done()
