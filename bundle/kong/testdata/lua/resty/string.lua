return {
  to_hex = function(bytes)
    return (bytes:gsub(".", function(c) return string.format("%02x", c:byte()) end))
  end,
}
