package simulate

import "time"

// Every figure that the simulation assumes of AWS is in this file, with its source. AWS publishes quotas, but few
// latencies; where it gives only a range, the figure is within it and the comment says so. The README discusses what is
// not modelled.

// Latency is how long a call takes: half of the calls take at most Median, and 99 of 100 at most P99. Between the
// two, and beyond, the time is distributed log-normally.
type Latency struct{ Median, P99 time.Duration }

// DynamoDB.
var (
	// "Single-digit millisecond performance at any scale", without percentiles:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Introduction.html
	readLatency  = Latency{3 * time.Millisecond, 9 * time.Millisecond}
	writeLatency = Latency{5 * time.Millisecond, 12 * time.Millisecond}
	// A transaction is prepared and committed, which takes twice the time of a write: "Distributed Transactions at
	// Scale in Amazon DynamoDB", USENIX ATC 2023, https://www.usenix.org/conference/atc23/presentation/idziorek
	transactionLatency = Latency{10 * time.Millisecond, 25 * time.Millisecond}
)

const (
	// Units a second of one partition. Every partition key is assumed to have a partition of its own, which is what
	// adaptive capacity aims at, and never more than one:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html
	partitionReadUnits  = 3000
	partitionWriteUnits = 1000
	// Bursts above these are served "on a best-effort basis", so only those of one second are:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/burst-adaptive-capacity.html
	partitionBurst = time.Second
	// Keys and bytes of one BatchGetItem, and bytes of one page of a Query:
	// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ServiceQuotas.html
	batchKeys  = 100
	batchBytes = 16 << 20
	pageBytes  = 1 << 20
)

// SQS.
var (
	// "Typical latencies for SendMessage, ReceiveMessage, and DeleteMessage API requests are in the tens or low hundreds
	// of milliseconds": https://aws.amazon.com/sqs/faqs/
	queueLatency = Latency{15 * time.Millisecond, 60 * time.Millisecond}
)

const (
	// Messages in flight of a standard queue:
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html
	mostInFlight = 120_000
	// A group is noisy if it has more than this share of what is in flight and at least this number of messages, or more than
	// this share of the recent processing time; then the groups that are not noisy come first, and among noisy groups
	// the one with the fewest in flight. It is quiet again when it has no backlog, or has sent nothing for quietAfter:
	// https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html
	noisyShare    = 0.10
	noisyMessages = 30
	quietAfter    = 5 * time.Minute
	// AWS does not say what "recent" is.
	recently = time.Minute
)

// Lambda.
const (
	// Concurrent executions of an account and region, unless raised:
	// https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
	accountConcurrency = 1000
	// An event source mapping of a standard queue starts with five concurrent batches and adds up to 300 a minute:
	// https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html
	firstPollers     = 5
	pollersPerMinute = 300
	// Memory that comes with one whole processor:
	// https://docs.aws.amazon.com/lambda/latest/dg/configuration-memory.html
	megabytesPerProcessor = 1769
	// How long an environment without work is kept. AWS gives no figure; several minutes are usual.
	keepIdle = 5 * time.Minute
	// From the start of the program to its first poll on a whole processor, the ceiling in functions/cold_test.go.
	programStart = 15 * time.Millisecond
)

var (
	// Making an environment, before the program starts. A cold start as a whole "typically" takes "from under 100 ms to
	// over 1 second", the less the smaller the package: https://docs.aws.amazon.com/lambda/latest/dg/lambda-runtime-environment.html
	environmentStart = Latency{200 * time.Millisecond, 600 * time.Millisecond}
	// Calling an environment that is ready; AWS gives no figure.
	invokeLatency = Latency{3 * time.Millisecond, 10 * time.Millisecond}
)

// API Gateway.
var (
	// "Overhead" of a Regional API; AWS gives no figure, only that it is in the metric IntegrationLatency's difference to
	// Latency: https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-metrics-dimensions.html
	gatewayLatency = Latency{6 * time.Millisecond, 20 * time.Millisecond}
)

// S3.
var (
	// "Small object latencies and first-byte-out latencies of roughly 100-200 milliseconds" is what AWS promises to plan
	// with; 20 to 30 ms is what is usually seen near the median:
	// https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance.html
	objectReadLatency  = Latency{25 * time.Millisecond, 150 * time.Millisecond}
	objectWriteLatency = Latency{40 * time.Millisecond, 200 * time.Millisecond}
)

const (
	// Bytes a second of one request: "85-90 MB/s", same page.
	objectBytesPerSecond = 85 << 20
	// Requests a second for a prefix, same page. A prefix is the name up to its last slash.
	prefixReads  = 5500
	prefixWrites = 3500
	// Names of one page of a list: https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
	listPage = 1000
)

// What Docent computes, on a whole processor. A simulated clock stands still while the handlers compute, so this time is
// added: from `make bench`, "processor", which includes what the server process needs for HTTP.
const (
	requestCompute  = 500 * time.Microsecond // a request that reads or writes a few items
	documentCompute = time.Millisecond       // a document of a few KB, indexed, its part of the merges included
	questionCompute = 2 * time.Millisecond   // a question, searched in segments in memory, and quoted
)
