local strict = require "strict"
local check, equal = strict.check, strict.equal
local paths = require "paths"

-- The table that the hosted gateway is tested with, too.
for line in io.lines("../../../../core/policy/testdata/paths.txt") do
  local raw, verdict, normal = line:match("^([^#\t][^\t]*)\t([^\t]+)\t?(.*)$")
  if verdict == "ok" or verdict == "bad_path" then
    check("hides_dot_segment " .. raw, function()
      local hidden = not paths.is_plain(raw) and paths.hides_dot_segment(normal)
      equal(hidden, verdict == "bad_path", "hidden")
    end)
  end
end

check("is_plain", function()
  equal(paths.is_plain("/a/b.c/..d"), true)
  for _, odd in ipairs({ "%", ";", "\\" }) do
    equal(paths.is_plain("/a" .. odd .. "b"), false, odd)
  end
end)

strict.done()
