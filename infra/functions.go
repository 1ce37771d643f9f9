package main

import (
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// gatewayTimeout is the timeout of functions that the gateway waits for: a second less than the gateway's.
const gatewayTimeout = 28

// function describes a folder under functions/.
type function struct {
	name    string
	about   string
	memory  int // MB; Lambda assigns processor time in proportion
	timeout int // seconds
	grant
}

// grant is the access of a function. A test compares it with the calls that the function makes.
type grant struct {
	reads   []string // tables
	writes  []string // tables, which it also reads
	objects access   // of the search index, in the bucket
	files   access   // original files in the bucket; writes: it also keeps them, but never deletes one
	drops   bool     // deletes original files that no document has any more
	sends   []string // queues
	takes   []string // queues whose messages it handles
	secrets access   // decrypts secrets of data sources, single sign-on and webhook endpoints; writes: also encrypts them
	model   bool     // calls the model, if there is one
	embeds  bool     // embeds texts: it has the weights or calls the embedding model
}

// access is a set of actions that a function may take on objects.
type access int

const (
	none   access = iota
	reads         // get and list: without permission to list, S3 reports a missing object as forbidden
	writes        // reads, put and delete
)

const (
	questions = "questions"
	documents = "documents"
	syncs     = "syncs"
	rebuilds  = "rebuilds"
	// extractions carries files whose text is to be read.
	extractions = "extractions"
	// embeddings carries documents and parts of the index that wait for vectors.
	embeddings = "embeddings"
	// deliveries carries notices for webhook endpoints. Every function that records a security event sends to it.
	deliveries = "deliveries"
)

// served returns the tables that every request of the API writes: the key's last use and daily count, the usage,
// and the security event of a refusal, and others.
func served(others ...string) []string {
	return append([]string{table.Identities, table.Usage, table.Events}, others...)
}

var functions = []function{
	{"admin", "teams, keys, data sources and webhooks", 512, gatewayTimeout,
		grant{writes: served(table.Collections, table.Documents), reads: []string{table.Answers}, sends: []string{documents, syncs, deliveries}, secrets: writes}},
	{"answering", "answers the questions in its queue", 1024, 120,
		grant{writes: []string{table.Answers, table.Events, table.Usage, table.Index}, reads: []string{table.Collections, table.Documents, table.Identities},
			objects: reads, sends: []string{deliveries}, takes: []string{questions}, model: true, embeds: true}},
	{"answers", "questions and answers", 1024, gatewayTimeout,
		grant{writes: served(table.Answers, table.Index), reads: []string{table.Collections, table.Documents}, objects: reads, // a search plans the repair of the index
			sends: []string{questions, deliveries}, model: true, embeds: true}}, // it answers questions whose answers are streamed
	{"collections", "collections", 512, gatewayTimeout,
		grant{writes: served(table.Collections, table.Documents), sends: []string{documents, deliveries}}},
	{"context", "search and tools", 1024, gatewayTimeout,
		grant{writes: served(table.Answers, table.Index), reads: []string{table.Collections, table.Documents}, objects: reads, // a search plans the repair of the index
			sends: []string{questions, deliveries}, model: true, embeds: true}}, // an agent may ask; a model may write research
	{"dashboard", "the pages of the dashboard, and signing in", 512, gatewayTimeout,
		grant{writes: served(), sends: []string{deliveries}, secrets: reads}}, // the client's secret at an OpenID Connect provider
	{"delivering", "delivers events to the webhook endpoints in its queue", 512, 60, // a turn of 20 s and a last reply of 15 s
		grant{writes: []string{table.Events}, sends: []string{deliveries}, takes: []string{deliveries}, secrets: reads}},
	{"documents", "documents", 1024, gatewayTimeout,
		grant{writes: served(table.Documents), reads: []string{table.Collections}, files: writes, sends: []string{documents, extractions, deliveries}}},
	{"embedding", "makes the vectors of the documents in its queue, and of outdated segments", 1769, 900, // MB for a whole processor; a document of 10 MB takes minutes
		grant{writes: []string{table.Documents, table.Index}, reads: []string{table.Collections}, objects: writes, sends: []string{embeddings},
			takes: []string{embeddings}, embeds: true}},
	{"extracting", "reads the text of the files in its queue", 2048, 360, // reading takes up to four minutes, below the alarm of its duration
		grant{writes: []string{table.Documents, table.Events}, reads: []string{table.Collections}, files: reads, sends: []string{documents, deliveries},
			takes: []string{extractions}}},
	{"indexing", "indexes the documents in its queue, and rebuilds outdated segments", 1024, 120,
		grant{writes: []string{table.Documents, table.Index, table.Collections, table.Events}, objects: writes, drops: true,
			sends: []string{rebuilds, embeddings, deliveries}, takes: []string{documents, rebuilds}}},
	{"scim", "users and groups", 512, gatewayTimeout,
		grant{writes: served(), sends: []string{deliveries}}},
	{"securityevents", "the feed of security events", 512, gatewayTimeout,
		grant{writes: served(), sends: []string{deliveries}}},
	{"sweeping", "sends again what a crash left behind", 512, 50,
		grant{writes: []string{table.Answers, table.Collections, table.Documents, table.Index, table.Events, table.Usage}, reads: []string{table.Identities},
			objects: writes, sends: []string{questions, documents, extractions, syncs, rebuilds, embeddings, deliveries}}},
	{"syncing", "syncs the data sources in its queue", 512, 540, // its longest turn of seven minutes is below the alarm of its duration
		grant{writes: []string{table.Collections, table.Documents, table.Events}, reads: []string{table.Identities}, // whom a provider lets read an item
			files: writes, sends: []string{documents, extractions, syncs, deliveries}, takes: []string{syncs}, secrets: reads}},
	{"usage", "usage and quotas", 512, gatewayTimeout,
		grant{writes: served(), reads: []string{table.Answers, table.Collections}, sends: []string{deliveries}}},
}

// continues reports whether the function sends messages to a queue that it takes messages from: work that is longer than a turn,
// or has to wait, continues with the next message.
func (g grant) continues() bool {
	return slices.ContainsFunc(g.takes, func(queue string) bool { return slices.Contains(g.sends, queue) })
}

// recursion returns what Lambda does when messages of the function lead to about 16 calls of it in a row. By default it takes that for a
// mistake and drops the message, which would end a sync after an hour. What continues here ends by its own rules.
func (f function) recursion() awslambda.RecursiveLoop {
	if f.continues() {
		return awslambda.RecursiveLoop_ALLOW
	}
	return "" // the default: terminate
}

// serves reports whether the gateway waits for the function.
func (f function) serves() bool { return f.timeout == gatewayTimeout }

// specOf returns the function with that name, which must exist.
func specOf(name string) function {
	return functions[slices.IndexFunc(functions, func(f function) bool { return f.name == name })]
}

// architecture returns the processor architecture of the functions.
func (s settings) architecture() awslambda.Architecture {
	if s.x86 {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

// traced returns whether functions are traced. X-Ray's default rule records the first request of every second, which are nearly
// all of an installation with few requests, so tracing is the operator's choice.
func (s settings) traced() awslambda.Tracing {
	if s.tracing {
		return awslambda.Tracing_ACTIVE
	}
	return awslambda.Tracing_DISABLED
}

func (s *stack) addFunctions() {
	s.functions, s.logs = map[string]awslambda.Function{}, map[string]awslogs.LogGroup{}
	for _, f := range functions {
		log := s.newLog(id(f.name, "Log"))
		s.logs[f.name] = log
		role := awsiam.NewRole(s.construct, id(f.name, "Role"), &awsiam.RoleProps{
			AssumedBy:      awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
			Description:    jsii.String("What Docent's function " + f.name + " may do."),
			InlinePolicies: &map[string]awsiam.PolicyDocument{"function": s.policy(f, log)},
		})
		s.functions[f.name] = awslambda.NewFunction(s.construct, functionID(f.name), &awslambda.FunctionProps{
			Description:   jsii.String("Docent: " + f.about + "."),
			Runtime:       awslambda.Runtime_PROVIDED_AL2023(),
			Architecture:  s.architecture(),
			Handler:       jsii.String("bootstrap"),
			Code:          awslambda.Code_FromAsset(jsii.String(s.code(f.name)), nil),
			MemorySize:    jsii.Number(f.memory),
			Timeout:       awscdk.Duration_Seconds(jsii.Number(f.timeout)),
			Tracing:       s.traced(),
			LogGroup:      log,
			RecursiveLoop: f.recursion(),
			// The policy is all that it may do; the library adds nothing.
			Role:        role.WithoutPolicyUpdates(nil),
			Environment: s.environment(f.name),
		})
	}
}
