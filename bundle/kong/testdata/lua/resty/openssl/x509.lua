-- A stand-in for Kong's library: "certificate of a" has the key "private a". The conformance
-- suite runs the real one.
local x509 = {}
x509.__index = x509

function x509.new(text, format)
  assert(format == "PEM")
  local name = text:match("^certificate of (.+)$")
  if not name then
    return nil, "it is not a certificate"
  end
  return setmetatable({ name = name }, x509)
end

function x509:check_private_key(key)
  return key.text == "private " .. self.name
end

return x509
