local strict = require "strict"
local check, equal = strict.check, strict.equal
local bodies = require "bodies"

-- What the plugin asks of a body that nginx holds in memory, in a file, or not at all.
local function refusal(content_type, body, options)
  options = options or {}
  local read = false
  local fields = { ["content-type"] = content_type, ["content-length"] = options.length }
  _G.kong = { request = { get_header = function(name) return fields[name] end } }
  _G.ngx = { req = {
    read_body = function() read = true end,
    get_body_data = function() return not options.in_file and body or nil end,
    get_body_file = function() return options.in_file and "/tmp/body" or nil end,
  } }
  return bodies.refusal(100), read
end

check("other types are not read", function()
  for _, content_type in ipairs({ "text/plain", "application/problem+json", "application/octet-stream" }) do
    local why, read = refusal(content_type, "1", { length = "1000" })
    equal(why, nil, content_type)
    equal(read, false, content_type)
  end
  equal(refusal(nil, "1"), nil)
end)

check("the size", function()
  for _, content_type in ipairs({
    "application/json", "Application/JSON; charset=utf-8", "multipart/form-data; boundary=b",
    "application/x-www-form-urlencoded",
  }) do
    local why, read = refusal(content_type, "", { length = "101" })
    equal(why, "body_too_large", content_type)
    equal(read, false, content_type)
    equal(refusal(content_type, nil, { in_file = true }), "body_too_large", content_type)
    equal(refusal(content_type, ("x"):rep(101)), "body_too_large", content_type)
    equal(refusal(content_type, ("x"):rep(100)), nil, content_type)
    equal(refusal(content_type, nil), nil, content_type)
  end
end)

check("arguments of a form", function()
  local function form(count)
    return ("&"):rep(count - 1)
  end
  local checked = bodies.refusal
  _G.kong = { request = { get_header = function(name) return name == "content-type" and
    "application/x-www-form-urlencoded" or nil end } }
  for count, want in pairs({ [1000] = false, [1001] = "body_too_large" }) do
    _G.ngx = { req = { read_body = function() end, get_body_data = function() return form(count) end } }
    equal(checked(10000) or false, want, count)
  end
end)

check("JSON that is neither an object nor an array", function()
  for text, want in pairs({
    ['"a"'] = "bad_body", [" 1"] = "bad_body", ["true"] = "bad_body", ["false"] = "bad_body",
    ["{}"] = "", ["[]"] = "", ["\n{"] = "", ["tru"] = "", [""] = "", [" "] = "", ["\31\139"] = "",
  }) do
    equal(refusal("application/json", text) or "", want, text)
  end
  equal(refusal("application/x-www-form-urlencoded", "1"), nil)
end)

strict.done()
