package main

import "docent/shared/scim/scimtest"

// samlText is the metadata of an identity provider that signs nothing.
const samlText = scimtest.Metadata
