package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/deployed"
)

// stageName is the stage's and with it the first element of every path.
const stageName = "v1"

// smallestPacked is the size in bytes from which answers are compressed. That it is
// set also has the gateway inflate requests, which would arrive damaged otherwise.
const smallestPacked = 1024

// addAPI adds the REST API, with neither paths nor functions yet.
func (s *stack) addAPI() {
	log := s.newLog(id("AccessLog"))
	s.api = awsapigateway.NewRestApi(s.construct, id("Api"), &awsapigateway.RestApiProps{
		RestApiName:               jsii.String(s.stackName()),
		Description:               jsii.String("Docent's API."),
		EndpointTypes:             &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		MinCompressionSize:        awscdk.Size_Bytes(jsii.Number(smallestPacked)),
		DisableExecuteApiEndpoint: jsii.Bool(s.domain != ""), // an API has one name
		CloudWatchRole:            jsii.Bool(s.logRole),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(stageName),
			TracingEnabled:       jsii.Bool(true),
			ThrottlingRateLimit:  jsii.Number(s.rate),
			ThrottlingBurstLimit: jsii.Number(s.burst),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(log),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
		},
	})
	s.api.Node().TryRemoveChild(jsii.String("Endpoint")) // an output beside BaseURL, which would only be wrong with a domain
	s.addResponses()
}

// accessLog is a line of the access log. Neither the query string nor a header is
// in it: both may hold what is secret.
const accessLog = `{"requestId":"$context.requestId","time":"$context.requestTimeEpoch","source":"$context.identity.sourceIp",` +
	`"method":"$context.httpMethod","path":"$context.path","status":"$context.status","response":"$context.error.responseType",` +
	`"integrationStatus":"$context.integration.integrationStatus","functionStatus":"$context.integration.status",` +
	`"error":"$context.integration.error","latency":"$context.responseLatency","integrationLatency":"$context.integration.latency",` +
	`"bytes":"$context.responseLength","trace":"$context.xrayTraceId"}`

// addRoutes has each root of the paths answered by its function, and every other
// path by the one that takes the rest.
func (s *stack) addRoutes() {
	integrations := map[string]awsapigateway.LambdaIntegration{}
	answer := func(r awsapigateway.IResource, function string) {
		if _, ok := integrations[function]; !ok {
			integrations[function] = awsapigateway.NewLambdaIntegration(s.functions[function], &awsapigateway.LambdaIntegrationOptions{
				AllowTestInvoke: jsii.Bool(false), ScopePermissionToMethod: jsii.Bool(false)})
		}
		r.AddMethod(jsii.String("ANY"), integrations[function], nil)
	}
	proxied := func(r awsapigateway.IResource, function string) {
		answer(r, function)
		answer(r.AddResource(jsii.String("{proxy+}"), nil), function)
	}
	for _, f := range deployed.Functions {
		if f.CatchAll {
			proxied(s.api.Root(), f.Name)
			continue
		}
		for _, root := range f.Roots {
			proxied(s.api.Root().AddResource(jsii.String(root), nil), f.Name)
		}
	}
}

// baseURL is the API's as clients reach it. It is put together from its parts,
// because the gateway's own comes of the stage, which comes of the functions, whose
// environment this is.
func (s *stack) baseURL() *string {
	if s.domain != "" {
		return jsii.String("https://" + s.domain + "/" + stageName)
	}
	if s.local != "" { // LocalStack's form, which needs neither a name nor a certificate
		return jsii.String(s.local + "/_aws/execute-api/" + *s.api.RestApiId() + "/" + stageName)
	}
	return jsii.String("https://" + *s.api.RestApiId() + ".execute-api." + *s.construct.Region() + "." + *s.construct.UrlSuffix() + "/" + stageName)
}
