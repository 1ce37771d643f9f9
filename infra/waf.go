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

// counted are the rules of AWS's common group that only count, because they stop what the API takes: large bodies with scripts and names of
// files, since documents about software are full of them, and any text in a query. An identity provider looks for the group
// "nginx.conf.bak" or "app.log readers" by its name in a filter, a program signs in with a long client id and a redirect to 127.0.0.1.
// Neither ever becomes a path, a page or an address that is called; the API parses what it gets. Programs may have no name.
// The rules for paths, cookies and known bad programs block: nothing of the API looks like what they stop.
var counted = []string{
	"SizeRestrictions_BODY", "CrossSiteScripting_BODY", "GenericLFI_BODY", "GenericRFI_BODY", "EC2MetaDataSSRF_BODY",
	"SizeRestrictions_QUERYSTRING", "CrossSiteScripting_QUERYARGUMENTS", "GenericLFI_QUERYARGUMENTS", "GenericRFI_QUERYARGUMENTS",
	"EC2MetaDataSSRF_QUERYARGUMENTS", "RestrictedExtensions_QUERYARGUMENTS",
	"NoUserAgent_HEADER",
}

// addWAF adds a web firewall in front of the API: a rate for each address, and AWS's common rules.
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
					RuleActionOverrides: count(counted...),
				}},
			},
		},
	})
	awswafv2.NewCfnWebACLAssociation(s.construct, id("FirewallAssociation"), &awswafv2.CfnWebACLAssociationProps{
		WebAclArn: firewall.AttrArn(), ResourceArn: s.api.DeploymentStage().StageArn()})
}
