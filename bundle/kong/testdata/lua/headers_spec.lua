local strict = require "strict"
local check, equal = strict.check, strict.equal
local headers = require "headers"

local FATES = {
  removed = headers.REMOVED, replaced = headers.REMOVED, key = false, -- see places_spec
  set = false, appended = false, kept = false,
}

-- The table that the hosted gateway is tested with, too.
for line in io.lines("../../../../core/policy/testdata/headers.txt") do
  local name, fate = line:match("^([^#\t][^\t]*)\t(%l+)$")
  if name then
    check("fate of " .. name, function()
      assert(FATES[fate] ~= nil, "the table has no fate " .. fate)
      for _ = 1, 2 do -- worked out, and remembered
        equal(headers.fate(name), FATES[fate], "fate")
      end
    end)
  end
end

check("fate of more names than are remembered", function()
  for i = 1, 2500 do
    equal(headers.fate("x-made-up-" .. i), false)
    equal(headers.fate("X_Tenant-" .. i), headers.REMOVED)
  end
  equal(headers.fate("x-consumer-id"), headers.REMOVED)
end)

check("harmless_connection", function()
  for _, harmless in ipairs({ "close", "keep-alive", "upgrade", "X-Mine, te", "" }) do
    equal(headers.harmless_connection(harmless), nil, harmless)
  end
  equal(headers.harmless_connection(nil), nil)
  equal(headers.harmless_connection("close, X-Consumer-ID,x_tenant_name, X-Mine"), "close, X-Mine")
  equal(headers.harmless_connection("content-length, Transfer-Encoding, HOST, X-Mine"), "X-Mine")
  equal(headers.harmless_connection("x-consumer-id"), "")
  equal(headers.harmless_connection({ "close", "x-authenticated-groups", "X-Mine" }), "close, X-Mine")
  equal(headers.harmless_connection({ "X-Mine", "X-Yours" }), "X-Mine, X-Yours")
end)

strict.done()
