package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// addBucket adds the bucket of the search segments. There are no versions: each object is written once and deleted
// on purpose, and the segments can be rebuilt from the tables.
func (s *stack) addBucket() {
	s.bucket = awss3.NewBucket(s.construct, id("Segments"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		Versioned:         jsii.Bool(false),
		// Sweeping removes objects that no list names. Only S3 sees incomplete uploads.
		LifecycleRules: &[]*awss3.LifecycleRule{{
			Id:                                  jsii.String("leftovers"),
			AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
		}},
		RemovalPolicy: s.removal(),
	})
}
