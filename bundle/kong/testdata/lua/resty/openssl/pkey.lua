-- A stand-in for Kong's library: the key is the text that it is made of, and a signature
-- names the key and what is signed, in one line. The conformance suite runs the real one.
local pkey = { PADDINGS = { RSA_PKCS1_PADDING = "pkcs1", RSA_PKCS1_PSS_PADDING = "pss" } }
pkey.__index = pkey

-- A public key of JSON, named by its member n or x.
local function public(text)
  local name = text:match('"[nx]":"([^"]+)"')
  return name and setmetatable({ text = "key " .. name }, pkey)
end

function pkey.new(text, options)
  if options.format == "JWK" then
    return public(text)
  end
  if options.type ~= "pr" then
    return nil, "it is asked for as a public key"
  end
  if options.format == "PEM" then
    return text:match("^private ") and setmetatable({ text = text }, pkey) or nil
  end
  if options.format ~= "DER" or not text:match("^key ") then
    return nil, "it is not a private key"
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

-- What pkey.sign writes, behind how it was asked to verify it.
function pkey:verify(signature, text, digest, padding, options)
  local how = { digest or "-", padding or "-" }
  for name, value in pairs(options or {}) do
    how[#how + 1] = type(name) == "number" and value or name
  end
  return signature == table.concat(how, " ") .. " " .. self:sign(text)
end

return pkey
