package main

// admin is the function that answers what no other one does.
const admin = "admin"

// route is a root of the API's paths and the function that answers below it.
type route struct{ root, function string }

// routes lists the roots that have a function of their own.
func routes() []route {
	return []route{
		{"answers", "answers"}, {"collections", "collections"}, {"context", "context"}, {"documents", "documents"},
		{"mcp", "context"}, {"scim", "scim"}, {"security-events", "securityevents"}, {"usage", "usage"},
	}
}
