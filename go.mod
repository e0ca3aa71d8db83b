module postern

go 1.26.0
