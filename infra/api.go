package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigateway"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/deployed"
)

// stageName is the name of the stage and so the first element of every path.
const stageName = "v1"

// smallestPacked is the size in bytes from which replies are compressed. Setting it also makes the gateway
// decompress requests, which would otherwise arrive damaged.
const smallestPacked = 1024

// addAPI adds the REST API, without paths and functions.
func (s *stack) addAPI() {
	log := s.newLog(id("AccessLog"))
	s.api = awsapigateway.NewRestApi(s.construct, id("Api"), &awsapigateway.RestApiProps{
		RestApiName:               jsii.String(s.stackName()),
		Description:               jsii.String("Docent's API."),
		EndpointTypes:             &[]awsapigateway.EndpointType{awsapigateway.EndpointType_REGIONAL},
		MinCompressionSize:        awscdk.Size_Bytes(jsii.Number(smallestPacked)),
		DisableExecuteApiEndpoint: jsii.Bool(s.domain != "" && !s.bothNames), // the API has one name, except during a change of it
		CloudWatchRole:            jsii.Bool(s.logRole),
		DeployOptions: &awsapigateway.StageOptions{
			StageName:            jsii.String(stageName),
			TracingEnabled:       jsii.Bool(s.tracing),
			ThrottlingRateLimit:  jsii.Number(s.rate),
			ThrottlingBurstLimit: jsii.Number(s.burst),
			AccessLogDestination: awsapigateway.NewLogGroupLogDestination(log),
			AccessLogFormat:      awsapigateway.AccessLogFormat_Custom(jsii.String(accessLog)),
		},
	})
	s.api.Node().TryRemoveChild(jsii.String("Endpoint")) // a second output with the URL, which would be wrong with a domain
	s.refuseOldTLS()
	s.addResponses()
}

// tlsPolicy is the policy of TLS 1.2 and 1.3. Without one, a regional API accepts TLS 1.0, also at the operator's domain.
const tlsPolicy = "SecurityPolicy_TLS13_1_2_2021_06"

// refuseOldTLS makes the gateway refuse TLS below 1.2. Such a policy needs an access mode; BASIC changes nothing about who is let in.
// LocalStack knows neither.
func (s *stack) refuseOldTLS() {
	if s.local != "" {
		return
	}
	api, ok := s.api.Node().DefaultChild().(awsapigateway.CfnRestApi)
	if !ok {
		panic(fmt.Sprintf("the API is a %T", s.api.Node().DefaultChild()))
	}
	api.SetSecurityPolicy(jsii.String(tlsPolicy))
	api.SetEndpointAccessMode(jsii.String("BASIC"))
}

// accessLog is a line of the access log. It has neither the query string nor a header: both may contain secrets.
const accessLog = `{"requestId":"$context.requestId","time":"$context.requestTimeEpoch","source":"$context.identity.sourceIp",` +
	`"method":"$context.httpMethod","path":"$context.path","status":"$context.status","response":"$context.error.responseType",` +
	`"integrationStatus":"$context.integration.integrationStatus","functionStatus":"$context.integration.status",` +
	`"error":"$context.integration.error","latency":"$context.responseLatency","integrationLatency":"$context.integration.latency",` +
	`"bytes":"$context.responseLength","trace":"$context.xrayTraceId"}`

// addRoutes connects each root of the paths with its function, and every other path with the function that catches
// the rest.
func (s *stack) addRoutes() {
	integrations, streams := map[string]awsapigateway.LambdaIntegration{}, map[string]bool{}
	for _, f := range deployed.Functions {
		streams[f.Name] = f.Streams
	}
	answer := func(r awsapigateway.IResource, function string) {
		if _, ok := integrations[function]; !ok {
			options := &awsapigateway.LambdaIntegrationOptions{AllowTestInvoke: jsii.Bool(false), ScopePermissionToMethod: jsii.Bool(false)}
			if streams[function] && s.transfer() == streamed {
				options.ResponseTransferMode = awsapigateway.ResponseTransferMode_STREAM
			}
			integrations[function] = awsapigateway.NewLambdaIntegration(s.callable(function), options)
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

// The values of deployed.Transfer.
const (
	streamed = "stream"
	buffered = "buffered"
)

// transfer returns how functions that stream reply. LocalStack's gateway has no streams.
func (s *stack) transfer() string {
	if s.local != "" {
		return buffered
	}
	return streamed
}

// baseURL is the API's URL for clients. It is built from its parts, because the gateway's own URL depends on the
// stage, the stage on the functions, and their environment on this.
func (s *stack) baseURL() *string {
	if s.domain == "" && s.local != "" { // LocalStack's form, which needs no name and no certificate
		return jsii.String(s.local + "/_aws/execute-api/" + *s.api.RestApiId() + "/" + stageName)
	}
	return jsii.String(s.origin() + "/" + stageName)
}

// origin returns the scheme and the host of baseURL.
func (s *stack) origin() string {
	switch {
	case s.domain != "":
		return "https://" + s.domain
	case s.local != "":
		return s.local
	}
	return s.gatewayOrigin()
}

// origins returns the origins of all addresses at which the API answers.
func (s *stack) origins() []string {
	if s.bothNames {
		return []string{s.origin(), s.gatewayOrigin()}
	}
	return []string{s.origin()}
}

// gatewayOrigin returns the scheme and the host of the gateway's own address.
func (s *stack) gatewayOrigin() string {
	return "https://" + *s.api.RestApiId() + ".execute-api." + *s.construct.Region() + "." + *s.construct.UrlSuffix()
}
