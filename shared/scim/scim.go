// Package scim serves users and groups to identity providers by SCIM 2.0. It keeps
// what they mean and how they are stored, and the HTTP handler, Bulk, lists and
// cursors. Schemas, filters and PATCH are in package protocol. Its users are the
// team's users (package team); the groups are its own.
package scim
