package handlers_test

// publicGuards are the routes that need no credential.
var publicGuards = map[string]guard{
	"GET /healthz":                        {open: true},
	"GET /readyz":                         {open: true},
	"GET /metrics":                        {open: true},
	"GET /.well-known/postern-export-key": {open: true},
	"GET /static/*file":                   {open: true},
	"GET /openapi.json":                   {open: true},
	"GET /openapi.yaml":                   {open: true},
	"GET /openapi-3.0.json":               {open: true},
	"GET /openapi-3.0.yaml":               {open: true},
	"GET /":                               {open: true},
	"GET /signin":                         {open: true},
	"POST /signin":                        {open: true},
	"POST /signout":                       {open: true},
	"POST /theme":                         {open: true},
	"GET /welcome/:code":                  {open: true},
	"POST /welcome/:code":                 {open: true},
	"GET /signup":                         {open: true},
	"POST /signup":                        {open: true},
	"POST /signin/:provider":              {open: true},
	"GET /signin/:provider/callback":      {open: true},
	"GET /invite/:code":                   {open: true},
	"POST /team":                          {open: true},
	"POST /oauth/device_authorization":    {open: true},
	"POST /oauth/token":                   {open: true},
}
