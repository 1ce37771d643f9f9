package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awswafv2"
	"github.com/aws/jsii-runtime-go"
)

// requestsPerAddress returns how many requests one address may make in 5 minutes: as many as a team, whose requests may all come from one
// server. So a team that is too fast gets the API's 429 with Retry-After, and not the firewall's 403.
func (s settings) requestsPerAddress() int {
	perSecond := s.teamRate
	if perSecond == 0 {
		perSecond = s.rate
	}
	return max(300*perSecond, fewestPerAddress)
}

const fewestPerAddress = 10_000

// addWAF adds a web firewall in front of the API. AWS's rule against large bodies only counts, because documents
// are large. So do those against scripts and file names in bodies, because documents about software are full of
// them, and those against long queries and local addresses in them: a program on a person's own machine signs in with a redirect to
// 127.0.0.1.
func (s *stack) addWAF() {
	if !s.waf {
		return
	}
	seen := func(name string) *awswafv2.CfnWebACL_VisibilityConfigProperty {
		return &awswafv2.CfnWebACL_VisibilityConfigProperty{CloudWatchMetricsEnabled: jsii.Bool(true),
			MetricName: jsii.String(name), SampledRequestsEnabled: jsii.Bool(false)} // samples would show keys
	}
	count := func(rules ...string) *[]any {
		var out []any
		for _, r := range rules {
			out = append(out, &awswafv2.CfnWebACL_RuleActionOverrideProperty{Name: jsii.String(r),
				ActionToUse: &awswafv2.CfnWebACL_RuleActionProperty{Count: map[string]any{}}})
		}
		return &out
	}
	firewall := awswafv2.NewCfnWebACL(s.construct, id("Firewall"), &awswafv2.CfnWebACLProps{
		Scope:            jsii.String("REGIONAL"),
		DefaultAction:    &awswafv2.CfnWebACL_DefaultActionProperty{Allow: map[string]any{}},
		VisibilityConfig: seen("firewall"),
		Rules: &[]any{
			&awswafv2.CfnWebACL_RuleProperty{
				Name: jsii.String("rate"), Priority: jsii.Number(0), VisibilityConfig: seen("rate"),
				Action: &awswafv2.CfnWebACL_RuleActionProperty{Block: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{RateBasedStatement: &awswafv2.CfnWebACL_RateBasedStatementProperty{
					AggregateKeyType: jsii.String("IP"), Limit: jsii.Number(s.requestsPerAddress())}},
			},
			&awswafv2.CfnWebACL_RuleProperty{
				Name: jsii.String("common"), Priority: jsii.Number(1), VisibilityConfig: seen("common"),
				OverrideAction: &awswafv2.CfnWebACL_OverrideActionProperty{None: map[string]any{}},
				Statement: &awswafv2.CfnWebACL_StatementProperty{ManagedRuleGroupStatement: &awswafv2.CfnWebACL_ManagedRuleGroupStatementProperty{
					VendorName: jsii.String("AWS"), Name: jsii.String("AWSManagedRulesCommonRuleSet"),
					RuleActionOverrides: count("SizeRestrictions_BODY", "CrossSiteScripting_BODY", "GenericLFI_BODY", "GenericRFI_BODY",
						"EC2MetaDataSSRF_BODY", "NoUserAgent_HEADER", "SizeRestrictions_QUERYSTRING", "GenericRFI_QUERYARGUMENTS", "EC2MetaDataSSRF_QUERYARGUMENTS"),
				}},
			},
		},
	})
	awswafv2.NewCfnWebACLAssociation(s.construct, id("FirewallAssociation"), &awswafv2.CfnWebACLAssociationProps{
		WebAclArn: firewall.AttrArn(), ResourceArn: s.api.DeploymentStage().StageArn()})
}
