-- SPDX-License-Identifier: Apache-2.0
--
-- Public keys that verify tokens (RFC 7517), with lua-resty-openssl, which is part of Kong. A key is parsed once:
-- parsing takes thirty times as long as verifying.

local cjson = require "cjson.safe"

local jwks = {}

-- The limits of a key set, and of an RSA key in bits: shorter ones can be broken (RFC 7518, 3.3), longer ones take
-- longer to verify than to sign.
local MOST_KEYS = 100
local MIN_RSA, MAX_RSA = 2048, 8192

-- The algorithms that tokens may be signed with (RFC 7518, 3.1; RFC 8037, 3.1). All are asymmetric: with HS256 a forger
-- could use the public key as the secret, and "none" means no signature at all (RFC 8725, 2.1).
local ALGORITHMS = {
  RS256 = { type = "RSA", digest = "sha256" },
  RS384 = { type = "RSA", digest = "sha384" },
  RS512 = { type = "RSA", digest = "sha512" },
  PS256 = { type = "RSA", digest = "sha256", salt = 32 },
  PS384 = { type = "RSA", digest = "sha384", salt = 48 },
  PS512 = { type = "RSA", digest = "sha512", salt = 64 },
  ES256 = { type = "EC", curve = "P-256", digest = "sha256", size = 64 },
  ES384 = { type = "EC", curve = "P-384", digest = "sha384", size = 96 },
  EdDSA = { type = "OKP", curve = "Ed25519", size = 64 },
}

jwks.ALGORITHMS = ALGORITHMS


local function text_of(value)
  return type(value) == "string" and value or nil
end


-- Reports whether the modulus of an RSA key has an accepted length.
local function is_sound(doc)
  local modulus = text_of(doc.n)
  local bytes = modulus and math.floor(#modulus * 3 / 4)
  return bytes and bytes * 8 >= MIN_RSA and bytes * 8 <= MAX_RSA
end


-- The key that a JWK describes; nil if it cannot verify signatures, including private keys and unknown types.
local function read(doc)
  if type(doc) ~= "table" or doc.d ~= nil or doc.k ~= nil then
    return nil
  end
  if doc.use ~= nil and doc.use ~= cjson.null and doc.use ~= "" and doc.use ~= "sig" then
    return nil
  end
  if doc.kty == "RSA" and not is_sound(doc) then
    return nil
  end
  local known = doc.kty == "RSA" or (doc.kty == "EC" and (doc.crv == "P-256" or doc.crv == "P-384")) or
    (doc.kty == "OKP" and doc.crv == "Ed25519")
  if not known then
    return nil
  end
  local members = { kty = doc.kty, n = doc.n, e = doc.e, crv = doc.crv, x = doc.x, y = doc.y }
  local key = require("resty.openssl.pkey").new(cjson.encode(members), { format = "JWK" })
  if not key then
    return nil
  end
  return {
    id = text_of(doc.kid) or "", algorithm = text_of(doc.alg) or "", type = doc.kty, curve = text_of(doc.crv),
    key = key,
  }
end


-- The keys of a set, which is a table with the list keys. Unusable keys are skipped: a set may have keys of unknown
-- types (RFC 7517, 5).
function jwks.read(set)
  local found = {}
  local list = type(set) == "table" and type(set.keys) == "table" and set.keys or {}
  for i = 1, math.min(#list, MOST_KEYS) do
    found[#found + 1] = read(list[i])
  end
  return found
end


-- Reports whether a key is for an algorithm. The token must not choose another one.
local function supports(key, algorithm)
  local one = ALGORITHMS[algorithm]
  return one and (key.algorithm == "" or key.algorithm == algorithm) and key.type == one.type and
    (one.curve == nil or key.curve == one.curve)
end


-- The key that may have signed a token with that header, or nil. A token may leave its kid out if only one key fits
-- (RFC 7515, 4.1.4).
function jwks.matching(keys, header)
  local found
  for _, key in ipairs(keys) do
    if (header.key_id == "" or key.id == header.key_id) and supports(key, header.algorithm) then
      if header.key_id ~= "" then
        return key
      end
      if found then
        return nil
      end
      found = key
    end
  end
  return found
end


-- Reports whether a key made the signature of a token.
function jwks.verifies(key, token)
  local one = ALGORITHMS[token.header.algorithm]
  local signature = token.signature
  if one.size and #signature ~= one.size then
    return false
  end
  if one.type == "RSA" then
    local pkey = require "resty.openssl.pkey"
    local padding = one.salt and pkey.PADDINGS.RSA_PKCS1_PSS_PADDING or pkey.PADDINGS.RSA_PKCS1_PADDING
    -- The salt is as long as the digest (RFC 7518, 3.5).
    local options = one.salt and { "rsa_pss_saltlen:" .. one.salt } or nil
    return key.key:verify(signature, token.signed, one.digest, padding, options) == true
  end
  if one.type == "EC" then
    return key.key:verify(signature, token.signed, one.digest, nil, { ecdsa_use_raw = true }) == true
  end
  return key.key:verify(signature, token.signed) == true
end


return jwks
