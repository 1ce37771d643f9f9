package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/jsii-runtime-go"
)

// addKey adds the key that encrypts the secrets of data sources and of single sign-on. KMS keeps old key material when it rotates the
// key, so old secrets stay readable.
func (s *stack) addKey() {
	s.key = awskms.NewKey(s.construct, id("SecretsKey"), &awskms.KeyProps{
		Description:       jsii.String("Encrypts the secrets of Docent's data sources."),
		EnableKeyRotation: jsii.Bool(true),
		PendingWindow:     awscdk.Duration_Days(jsii.Number(30)),
		RemovalPolicy:     s.removal(),
	})
}
