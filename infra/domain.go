package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"
)

// addDomain gives the API a name of the operator. Its paths start with the version, as those of the gateway's own
// name do.
func (s *stack) addDomain() {
	if s.domain == "" {
		return
	}
	domain := awsapigateway.NewDomainName(s.construct, id("Domain"), &awsapigateway.DomainNameProps{
		DomainName:     jsii.String(s.domain),
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(s.construct, id("Certificate"), jsii.String(s.certificate)),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	domain.AddBasePathMapping(s.api, &awsapigateway.BasePathMappingOptions{
		BasePath: jsii.String(stageName), Stage: s.api.DeploymentStage()})
	s.output("DomainTarget", "Where the domain's CNAME or alias must point.", *domain.DomainNameAliasDomainName())
	if s.zone == "" {
		return
	}
	awsroute53.NewARecord(s.construct, id("DomainRecord"), &awsroute53.ARecordProps{
		Zone: awsroute53.HostedZone_FromHostedZoneAttributes(s.construct, id("Zone"), &awsroute53.HostedZoneAttributes{
			HostedZoneId: jsii.String(s.zone), ZoneName: jsii.String(s.zoneName)}),
		RecordName: jsii.String(s.domain + "."),
		Target:     awsroute53.RecordTarget_FromAlias(awsroute53targets.NewApiGatewayDomain(domain)),
	})
}
