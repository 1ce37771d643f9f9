package scimtest

// Metadata is the metadata of a SAML identity provider that signs nothing.
const Metadata = `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.test/">
<IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
<KeyDescriptor use="signing"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>
MIIBfDCCASGgAwIBAgIUR40edqUBj3H1yUHg+Ml4vYDjXeEwCgYIKoZIzj0EAwIwEzERMA8GA1UEAwwIaWRwLnRlc3QwHhcNMjYx
MTIxMTMwNTE2WhcNMzYxMTE4MTMwNTE2WjATMREwDwYDVQQDDAhpZHAudGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABH8S
05I2gqprPuHlHh+okWwt6YFqosOMd94xudUdU3ebLhkQQuwGKC5op4i1thna8qoDoCsyQGmA6Wt/ZkN0lACjUzBRMB0GA1UdDgQW
BBTn8kcXOJn4tsOKbLve4HZGkSsYYDAfBgNVHSMEGDAWgBTn8kcXOJn4tsOKbLve4HZGkSsYYDAPBgNVHRMBAf8EBTADAQH/MAoG
CCqGSM49BAMCA0kAMEYCIQDZlDQdTfZ918He0mW6IIHqUAXKHlZZYvFb+btTw4YqgwIhAMh8JW9c3KFw8Cx0ACbqEY1FoUMZzz4Q
vAsRWNG1KW2P
</X509Certificate></X509Data></KeyInfo></KeyDescriptor>
<SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.test/sso"/>
</IDPSSODescriptor></EntityDescriptor>`
