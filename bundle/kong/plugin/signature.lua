-- SPDX-License-Identifier: Apache-2.0
--
-- Signatures of calls to upstreams (RFC 9421), with a key in one of Kong's environment variables, which is not in the
-- export. They cover the same parts as the hosted gateway's.

local sha256 = require "resty.sha256"

local signature = {}

-- The label among the signatures of a message, as on the hosted gateway.
local LABEL = "postern"

-- OpenSSL's number of Ed25519 (NID_ED25519).
local ED25519 = 1087

-- The headers of a caller's own signature, which ours replaces.
signature.NAMES = { "signature", "signature-input", "signature-agent" }

-- The identity headers in the order in which they are covered.
local IDENTITY = {
  "X-Project-ID", "X-Consumer-ID", "X-Consumer-Username", "X-Consumer-Custom-ID", "X-Credential-Identifier",
  "X-Consumer-Metadata", "X-Authenticated-Userid", "X-Consumer-Groups", "X-Consumer-Groups-Truncated",
  "X-Authenticated-Scope", "X-Tenant-ID",
}


-- The thumbprint of a public key (RFC 7638; RFC 8037, appendix A.3). The library's own does not use only the required
-- members.
local function thumbprint(x)
  local hasher = sha256:new()
  hasher:update('{"crv":"Ed25519","kty":"OKP","x":"' .. x .. '"}')
  return (ngx.encode_base64(hasher:final(), true):gsub("+", "-"):gsub("/", "_"))
end


-- The signer whose key is in the variable; nil without one. The first call reads the key, because Kong does not have
-- the variables while it reads its configuration.
function signature.store(variable)
  return variable and { variable = variable } or nil
end


-- Reports whether the signer has its key: a private key for Ed25519, PKCS #8 in base64.
function signature.ready(signer)
  if signer.key then
    return true
  end
  local text = kong.vault.get("{vault://env/" .. signer.variable .. "}")
  local der = type(text) == "string" and ngx.decode_base64(text)
  if not der then
    return false
  end
  local key = require("resty.openssl.pkey").new(der, { format = "DER", type = "pr" })
  if not key or key.key_type ~= ED25519 then
    return false
  end
  local public = require("cjson.safe").decode((key:tostring("public", "JWK")))
  if not public then
    return false
  end
  signer.id, signer.key = thumbprint(public.x), key
  return true
end


-- The headers with the signature of the call, by a signer that is ready; nil if the library fails. tag is the
-- environment's id, and identity has the headers that the call gets.
function signature.headers(signer, tag, identity)
  local lines, covered = {}, {}
  local function cover(name, value)
    covered[#covered + 1] = '"' .. name .. '"'
    lines[#lines + 1] = '"' .. name .. '": ' .. value
  end
  cover("@method", kong.request.get_method())
  cover("@path", ngx.var.upstream_uri) -- Kong appends the query after all plugins
  cover("@query", "?" .. kong.request.get_raw_query())
  for _, name in ipairs(IDENTITY) do
    if identity[name] then
      cover(name:lower(), identity[name])
    end
  end
  local params = "(" .. table.concat(covered, " ") .. ");created=" .. ngx.time() ..
    ';keyid="' .. signer.id .. '";alg="ed25519";tag="' .. tag .. '"'
  lines[#lines + 1] = '"@signature-params": ' .. params
  local signed = signer.key:sign(table.concat(lines, "\n"))
  return signed and {
    ["Signature-Input"] = LABEL .. "=" .. params,
    ["Signature"] = LABEL .. "=:" .. ngx.encode_base64(signed) .. ":",
  }
end


return signature
