-- OpenResty's module of this name, as far as the plugin uses it, over the same
-- library: Debian's nginx does not ship it.
local ffi = require "ffi"
ffi.cdef "unsigned char *SHA256(const unsigned char *d, size_t n, unsigned char *md);"
local crypto = ffi.load("libcrypto.so.3")

local sha256 = {}
sha256.__index = sha256

function sha256.new()
  return setmetatable({ text = "" }, sha256)
end

function sha256:reset()
  self.text = ""
  return true
end

function sha256:update(text)
  self.text = self.text .. text
  return true
end

function sha256:final()
  local out = ffi.new("unsigned char[32]")
  crypto.SHA256(self.text, #self.text, out)
  return ffi.string(out, 32)
end

return sha256
