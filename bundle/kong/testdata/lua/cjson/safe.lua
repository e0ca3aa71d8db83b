-- A stand-in for Kong's library that reads what the stand-in for resty.openssl.pkey writes.
return { decode = function(text) return { x = "x of " .. text } end }
