local strict = require "strict"
local check, equal = strict.check, strict.equal
local json = require "json"

-- The text that the table has in its notation.
local function written(text)
  text = text:gsub("{{(%d+) (..-)}}", function(times, part) return part:rep(tonumber(times)) end)
  return (text:gsub("\\x(%x%x)", function(code) return string.char(tonumber(code, 16)) end))
end

-- The table that the hosted gateway is tested with, too.
for line in io.lines("../../../../platform/exactjson/testdata/texts.txt") do
  local verdict, text = line:match("^(%a+)\t(.+)$")
  if verdict then
    check("object " .. text, function()
      equal(json.object(written(text)) ~= nil, verdict == "ok", "read")
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
