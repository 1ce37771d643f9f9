package main

// Certificate authorities for a machine that has none of its own, such as the container image.
import _ "golang.org/x/crypto/x509roots/fallback"
