package main

import "docent/shared/scim/scimtest"

// samlText is the metadata of an identity provider without a signature.
const samlText = scimtest.Metadata
