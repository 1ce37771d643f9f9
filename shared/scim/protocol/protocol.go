// Package protocol is SCIM 2.0 without a server: the schemas of RFC 7643, and from
// RFC 7644 filters, paths, PATCH, projection, sorting and errors, with the deviations
// of the identity providers. It works on resources in memory; package scim stores
// them and answers requests.
//
// A resource is a tree of JSON: an object is a map[string]any, a list is a []any.
// Names are spelled as in the schema, and an unassigned attribute is absent.
package protocol
