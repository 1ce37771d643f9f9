package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/jsii-runtime-go"
)

// addDomain gives the API a name of the operator's, below which its paths begin
// with the version as they do at the gateway's own name.
func (x *stack) addDomain() {
	if x.domain == "" {
		return
	}
	domain := awsapigateway.NewDomainName(x.construct, id("Domain"), &awsapigateway.DomainNameProps{
		DomainName:     jsii.String(x.domain),
		Certificate:    awscertificatemanager.Certificate_FromCertificateArn(x.construct, id("Certificate"), jsii.String(x.certificate)),
		EndpointType:   awsapigateway.EndpointType_REGIONAL,
		SecurityPolicy: awsapigateway.SecurityPolicy_TLS_1_2,
	})
	domain.AddBasePathMapping(x.api, &awsapigateway.BasePathMappingOptions{
		BasePath: jsii.String(stageName), Stage: x.api.DeploymentStage()})
	x.output("DomainTarget", "Where the domain's CNAME or alias must point.", *domain.DomainNameAliasDomainName())
	if x.zone == "" {
		return
	}
	awsroute53.NewARecord(x.construct, id("DomainRecord"), &awsroute53.ARecordProps{
		Zone: awsroute53.HostedZone_FromHostedZoneAttributes(x.construct, id("Zone"), &awsroute53.HostedZoneAttributes{
			HostedZoneId: jsii.String(x.zone), ZoneName: jsii.String(x.zoneName)}),
		RecordName: jsii.String(x.domain + "."),
		Target:     awsroute53.RecordTarget_FromAlias(awsroute53targets.NewApiGatewayDomain(domain)),
	})
}
