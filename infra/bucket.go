package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// addBucket adds the bucket of the search segments. Each object is written once
// and its removal is meant, so there are no versions. What is in it can be made
// anew from the tables.
func (s *stack) addBucket() {
	s.bucket = awss3.NewBucket(s.construct, id("Segments"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		Versioned:         jsii.Bool(false),
		// Objects that nothing names are removed by sweeping. What only S3 sees are
		// uploads that ended half way.
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("leftovers"),
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
		}},
		RemovalPolicy: s.removal(),
	})
}
