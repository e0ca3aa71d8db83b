-- A stand-in for Kong's library: the key is the text that it is made of, and a signature
-- names the key and what is signed, in one line. The conformance suite runs the real one.
local pkey = {}
pkey.__index = pkey

function pkey.new(text, options)
  if options.format ~= "DER" or options.type ~= "pr" or not text:match("^key ") then
    return nil, "it is no private key"
  end
  return setmetatable({ key_type = text == "key of rsa" and 6 or 1087, text = text }, pkey)
end

function pkey:tostring(part, format)
  assert(part == "public" and format == "JWK")
  return "jwk of " .. self.text
end

function pkey:sign(text)
  return self.text .. " signed " .. text:gsub("\n", " / ")
end

return pkey
