package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/jsii-runtime-go"
)

// tag is the form of a tag: KEY=VALUE in the characters that every service takes.
var tag = regexp.MustCompile(`^([\pL\pN _.:/+@-]{1,128})=([\pL\pN _.:/+@=-]{0,256})$`)

// readTags reads tags, separated by commas.
func readTags(s *settings, value string) error {
	s.tags = map[string]string{}
	if value == "" {
		return nil
	}
	taken := map[string]bool{strings.ToLower(ownerTag): true} // IAM's keys are the same in upper and lower case
	for pair := range strings.SplitSeq(value, ",") {
		parts := tag.FindStringSubmatch(strings.TrimSpace(pair))
		if parts == nil {
			return fmt.Errorf("%q is not KEY=VALUE", pair)
		}
		key := strings.ToLower(parts[1])
		if taken[key] || strings.HasPrefix(key, "aws:") {
			return fmt.Errorf("the tag %s is not yours to give, or is given twice", parts[1])
		}
		taken[key], s.tags[parts[1]] = true, parts[2]
	}
	if len(s.tags) > mostTags {
		return fmt.Errorf("there are more than %d tags", mostTags)
	}
	return nil
}

// mostTags is how many tags the stack may be given. A resource takes 50; some are AWS's own, and one is the stack's.
const mostTags = 40

// obey gives a stack what the rules of an account ask of it: tags on everything, and a boundary of the permissions of its roles. The tags of
// the template are also those of the stack in CloudFormation.
func (s settings) obey(stack awscdk.Stack) {
	for _, key := range slices.Sorted(maps.Keys(s.tags)) {
		awscdk.Tags_Of(stack).Add(jsii.String(key), jsii.String(s.tags[key]), nil)
	}
	if s.boundary == "" {
		return
	}
	find := awsiam.ManagedPolicy_FromManagedPolicyName
	if strings.HasPrefix(s.boundary, "arn:") {
		find = awsiam.ManagedPolicy_FromManagedPolicyArn
	}
	policy := find(stack, id("PermissionsBoundary"), jsii.String(s.boundary))
	awsiam.PermissionsBoundary_Of(stack).Apply(policy)
}
