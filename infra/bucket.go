package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"
)

// addBucket adds the bucket of the search segments and original files. There are no versions: each object is written once and deleted
// on purpose, and the segments can be rebuilt from the tables. With backups there are, because S3 copies only such a bucket. The rules
// for versions are always there: a bucket that had versions once keeps them when backups are switched off.
func (s *stack) addBucket() {
	// Sweeping removes objects that no list names. Only S3 sees incomplete uploads.
	rules := append([]*awss3.LifecycleRule{{
		Id:                                  jsii.String("leftovers"),
		AbortIncompleteMultipartUploadAfter: awscdk.Duration_Days(jsii.Number(1)),
	}}, versionRules()...)
	s.bucket = awss3.NewBucket(s.construct, id("Segments"), &awss3.BucketProps{
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		Versioned:         jsii.Bool(s.backupRegion != ""),
		LifecycleRules:    &rules,
		RemovalPolicy:     s.removal(),
	})
}

// allowUploads lets the pages of the dashboard, and no others, send files to the addresses of uploads: under both names, while the API
// has two. Each address signs what may be sent.
func (s *stack) allowUploads() {
	s.bucket.AddCorsRule(&awss3.CorsRule{
		AllowedMethods: &[]awss3.HttpMethods{awss3.HttpMethods_PUT},
		AllowedOrigins: jsii.Strings(s.origins()...),
		AllowedHeaders: jsii.Strings("content-type", "if-none-match", "x-amz-checksum-sha256"),
		MaxAge:         jsii.Number(900), // seconds: as long as an address
	})
}
