local strict = require "strict"
local check, equal = strict.check, strict.equal
local json = require "json"

-- The table that the hosted gateway is tested with, too.
for line in io.lines("../../../../platform/exactjson/testdata/names.txt") do
  local verdict, text = line:match("^(%a+)\t(.+)$")
  if verdict then
    check("object " .. text, function()
      equal(json.object(text) ~= nil, verdict == "ok", "read")
    end)
  end
end

check("object has names with their case", function()
  equal(json.object('{"SUB":"victim","sub":"1","sUb":"2"}').sub, "1")
end)

check("object refuses what is not an object", function()
  for _, text in ipairs({ "[]", '"sub"', "1", "null", "", '[{"sub":1}]', '{"a":"\1"}' }) do
    equal(json.object(text), nil, text)
  end
end)

strict.done()
