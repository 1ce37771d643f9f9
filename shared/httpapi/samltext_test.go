package httpapi_test

import (
	"github.com/getkin/kin-openapi/openapi3filter"

	"docent/shared/scim/scimtest"
)

func init() {
	for _, media := range []string{"text/html", "application/xml", "text/xml", "application/samlmetadata+xml"} {
		openapi3filter.RegisterBodyDecoder(media, openapi3filter.PlainBodyDecoder)
	}
}

// samlText is the metadata of an identity provider that signs nothing.
const samlText = scimtest.Metadata
