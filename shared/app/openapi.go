package app

import "docent/shared/httpapi"

// OpenAPI returns the OpenAPI 3.1 document of the API as YAML.
func OpenAPI() ([]byte, error) { return httpapi.OpenAPI(Providers()).YAML() }
