"""Compares each resource of the template with LocalStack's description of it.

    check.py TEMPLATE STACK

AWS_ENDPOINT_URL names LocalStack. It prints a line for each kind of resource, and ends with status 1 when a resource
is missing or has other properties than the template says, except for those in KNOWN.
"""

import collections
import json
import sys

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ACCOUNT, REGION = "000000000000", "us-east-1"
PSEUDO = {"AWS::AccountId": ACCOUNT, "AWS::Region": REGION, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}

# What the free edition of LocalStack 4.14.0, with its tables at moto, leaves out of a resource: by type and property,
# each with the reason. If one works again, the check fails until its line is removed.
NO_TYPE = "LocalStack has no such type: it makes nothing, in silence"
NOT_SET = "LocalStack's CloudFormation does not set it"
KNOWN = {
    ("AWS::CloudWatch::Dashboard", "(not made)"): NO_TYPE,
    ("AWS::Logs::MetricFilter", "(not made)"): NO_TYPE,
    ("AWS::ApiGateway::Stage", "AccessLogSetting"): NOT_SET,
    ("AWS::ApiGateway::Stage", "MethodSettings"): NOT_SET,
    ("AWS::DynamoDB::Table", "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled"): NOT_SET,
    ("AWS::DynamoDB::Table", "PointInTimeRecoverySpecification.RecoveryPeriodInDays"): NOT_SET,
    ("AWS::Logs::LogGroup", "RetentionInDays"): NOT_SET,
    ("AWS::S3::Bucket", "LifecycleConfiguration"): NOT_SET,
    ("AWS::Lambda::Function", "RecursiveLoop"): NOT_SET,
}

# Properties that describe the deployment and cannot be read back.
NOT_READ = {"Tags", "Code", "PendingWindowInDays"}

ARNS = {
    "AWS::DynamoDB::Table": "arn:aws:dynamodb:{r}:{a}:table/{id}",
    "AWS::S3::Bucket": "arn:aws:s3:::{id}",
    "AWS::SQS::Queue": "arn:aws:sqs:{r}:{a}:{last}",
    "AWS::KMS::Key": "arn:aws:kms:{r}:{a}:key/{id}",
    "AWS::Logs::LogGroup": "arn:aws:logs:{r}:{a}:log-group:{id}:*",
    "AWS::IAM::Role": "arn:aws:iam::{a}:role/{id}",
    "AWS::Lambda::Function": "arn:aws:lambda:{r}:{a}:function:{id}",
    "AWS::Events::Rule": "arn:aws:events:{r}:{a}:rule/{id}",
    "AWS::CloudWatch::Alarm": "arn:aws:cloudwatch:{r}:{a}:alarm:{id}",
}


def client(service):
    return boto3.client(service, region_name=REGION, config=Config(s3={"addressing_style": "path"}, retries={"max_attempts": 0}))


class Stack:
    """A template and the resources created from it."""

    def __init__(self, template, name):
        self.resources = template["Resources"]
        self.made = {r["LogicalResourceId"]: r for page in client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=name)
                     for r in page["StackResourceSummaries"]}

    def id(self, logical):
        return self.made[logical]["PhysicalResourceId"]

    def attribute(self, logical, name):
        kind, made = self.resources[logical]["Type"], self.id(logical)
        if name == "Arn":
            return ARNS[kind].format(a=ACCOUNT, r=REGION, id=made, last=made.rsplit("/", 1)[-1])
        if (kind, name) == ("AWS::SQS::Queue", "QueueName"):
            return made.rsplit("/", 1)[-1]
        if (kind, name) == ("AWS::ApiGateway::RestApi", "RootResourceId"):
            return client("apigateway").get_rest_api(restApiId=made)["rootResourceId"]
        raise KeyError(f"the template reads {name} of {kind}: add it to check.py")

    def value(self, v):
        """Returns v with its references replaced."""
        match v:
            case {"Ref": name}:
                return PSEUDO.get(name) or self.id(name)
            case {"Fn::GetAtt": [logical, name]}:
                return self.attribute(logical, name)
            case {"Fn::Join": [by, parts]}:
                return by.join(self.value(p) for p in parts)
            case {"Fn::Sub": str(text)}:
                for name, replacement in PSEUDO.items():
                    text = text.replace("${" + name + "}", replacement)
                return text
            case dict():
                return {k: self.value(x) for k, x in v.items()}
            case list():
                return [self.value(x) for x in v]
        return v


def table(id, p):
    t = client("dynamodb").describe_table(TableName=id)["Table"]
    ttl = client("dynamodb").describe_time_to_live(TableName=id)["TimeToLiveDescription"]
    recovery = client("dynamodb").describe_continuous_backups(TableName=id)["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
    return t | {"BillingMode": t["BillingModeSummary"]["BillingMode"],
                "SSESpecification": {"SSEEnabled": t.get("SSEDescription", {}).get("Status") == "ENABLED"},
                "TimeToLiveSpecification": {"AttributeName": ttl.get("AttributeName"), "Enabled": ttl["TimeToLiveStatus"] == "ENABLED"},
                "PointInTimeRecoverySpecification": recovery | {"PointInTimeRecoveryEnabled": recovery["PointInTimeRecoveryStatus"] == "ENABLED"}}


def queue(id, p):
    a = client("sqs").get_queue_attributes(QueueUrl=id, AttributeNames=["All"])["Attributes"]
    return a | {k: json.loads(a[k]) for k in ("RedrivePolicy", "Policy") if k in a}


def bucket(id, p):
    s3 = client("s3")
    encryption = s3.get_bucket_encryption(Bucket=id)["ServerSideEncryptionConfiguration"]["Rules"]
    return {"BucketEncryption": {"ServerSideEncryptionConfiguration": [
                {"ServerSideEncryptionByDefault": r["ApplyServerSideEncryptionByDefault"]} for r in encryption]},
            "CorsConfiguration": {"CorsRules": cors(id)},
            "LifecycleConfiguration": lifecycle(id),
            "OwnershipControls": s3.get_bucket_ownership_controls(Bucket=id)["OwnershipControls"],
            "PublicAccessBlockConfiguration": s3.get_public_access_block(Bucket=id)["PublicAccessBlockConfiguration"]}


def cors(bucket):
    rules = client("s3").get_bucket_cors(Bucket=bucket)["CORSRules"]
    return [{"MaxAge" if name == "MaxAgeSeconds" else name: value for name, value in r.items()} for r in rules]


def lifecycle(bucket):
    try:
        return {"Rules": client("s3").get_bucket_lifecycle_configuration(Bucket=bucket)["Rules"]}
    except ClientError as e:
        if e.response["Error"]["Code"] != "NoSuchLifecycleConfiguration":
            raise
        return None


def role(id, p):
    iam = client("iam")
    return iam.get_role(RoleName=id)["Role"] | {
        "ManagedPolicyArns": [m["PolicyArn"] for m in iam.list_attached_role_policies(RoleName=id)["AttachedPolicies"]],
        "Policies": [iam.get_role_policy(RoleName=id, PolicyName=n) for n in iam.list_role_policies(RoleName=id)["PolicyNames"]]}


def key(id, p):
    kms = client("kms")
    return kms.describe_key(KeyId=id)["KeyMetadata"] | {
        "EnableKeyRotation": kms.get_key_rotation_status(KeyId=id)["KeyRotationEnabled"],
        "KeyPolicy": json.loads(kms.get_key_policy(KeyId=id, PolicyName="default")["Policy"])}


def permission(id, p):
    statements = json.loads(client("lambda").get_policy(FunctionName=p["FunctionName"])["Policy"])["Statement"]
    found = [{"Action": s["Action"], "FunctionName": s["Resource"], "Principal": s["Principal"]["Service"],
              "SourceArn": s["Condition"]["ArnLike"]["AWS:SourceArn"]} for s in statements]
    return p if p in found else {"one of": found}


def mapping(id, p):
    m = client("lambda").get_event_source_mapping(UUID=id)
    return m | {"FunctionName": m["FunctionArn"].rsplit(":", 1)[-1]}


def rule(id, p):
    name = id.rsplit("/", 1)[-1]
    return client("events").describe_rule(Name=name) | {"Targets": client("events").list_targets_by_rule(Rule=name)["Targets"]}


def one(found, id):
    if len(found) != 1:
        raise LookupError(f"{len(found)} are called {id}")
    return found[0]


def log_group(id, p):
    found = client("logs").describe_log_groups(logGroupNamePrefix=id)["logGroups"]
    return one([g for g in found if g["logGroupName"] == id], id)


def metric_filter(id, p):
    f = one(client("logs").describe_metric_filters(logGroupName=p["LogGroupName"])["metricFilters"], id)
    for t in f["metricTransformations"]:
        t["Dimensions"] = [{"Key": k, "Value": v} for k, v in t.pop("dimensions", {}).items()]
    return f


def stage(id, p):
    s = client("apigateway").get_stage(restApiId=p["RestApiId"], stageName=p["StageName"])
    settings = [{"HttpMethod": path.rsplit("/", 1)[-1], "ResourcePath": "/" + path.rsplit("/", 1)[0], **m} for path, m in s["methodSettings"].items()]
    return s | {"accessLogSetting": s.get("accessLogSettings"), "methodSettings": settings, "restApiId": p["RestApiId"]}


def method(id, p):
    of = {"restApiId": p["RestApiId"], "resourceId": p["ResourceId"]}
    m = client("apigateway").get_method(**of, httpMethod=p["HttpMethod"])
    i = m["methodIntegration"]
    return m | of | {"integration": i | {"integrationHttpMethod": i["httpMethod"]}}


def api(read, **names):
    """Returns a function that reads a part of the REST API by its properties."""
    def describe(id, p):
        arguments = {k: id if v is None else p[v] for k, v in names.items()}
        return getattr(client("apigateway"), read)(**arguments) | {v: p[v] for v in names.values() if v}
    return describe


# Functions that read a resource of each type, from its physical id and its expected properties.
READ = {
    "AWS::ApiGateway::Account": api("get_account"),
    "AWS::ApiGateway::Deployment": api("get_deployment", restApiId="RestApiId", deploymentId=None),
    "AWS::ApiGateway::GatewayResponse": api("get_gateway_response", restApiId="RestApiId", responseType="ResponseType"),
    "AWS::ApiGateway::Method": method,
    "AWS::ApiGateway::Resource": api("get_resource", restApiId="RestApiId", resourceId=None),
    "AWS::ApiGateway::RestApi": api("get_rest_api", restApiId=None),
    "AWS::ApiGateway::Stage": stage,
    "AWS::CloudWatch::Alarm": lambda id, p: one(client("cloudwatch").describe_alarms(AlarmNames=[id])["MetricAlarms"], id),
    "AWS::CloudWatch::Dashboard": lambda id, p: client("cloudwatch").get_dashboard(DashboardName=id),
    "AWS::DynamoDB::Table": table,
    "AWS::Events::Rule": rule,
    "AWS::IAM::Role": role,
    "AWS::KMS::Key": key,
    "AWS::Lambda::EventInvokeConfig": lambda id, p: p | client("lambda").get_function_event_invoke_config(FunctionName=p["FunctionName"]),
    "AWS::Lambda::EventSourceMapping": mapping,
    "AWS::Lambda::Function": lambda id, p: client("lambda").get_function_configuration(FunctionName=id),
    "AWS::Lambda::Permission": permission,
    "AWS::Logs::LogGroup": log_group,
    "AWS::Logs::MetricFilter": metric_filter,
    "AWS::S3::Bucket": bucket,
    "AWS::S3::BucketPolicy": lambda id, p: p | {"PolicyDocument": json.loads(client("s3").get_bucket_policy(Bucket=p["Bucket"])["Policy"])},
    "AWS::SQS::Queue": queue,
    "AWS::SQS::QueuePolicy": lambda id, p: p | {"PolicyDocument": one([queue(q, p)["Policy"] for q in p["Queues"]], id)},
}


def differences(want, got, path=""):
    """Yields the path of each part of want that got does not have."""
    if isinstance(want, dict) and isinstance(got, dict):
        for k, v in want.items():
            found = [x for name, x in got.items() if name.lower() == k.lower()]  # some APIs name it in camel case
            yield from differences(v, found[0] if found else None, f"{path}.{k}" if path else k)
    elif isinstance(want, list) and isinstance(got, list) and len(want) == len(got):
        for v in want:
            if not any(not list(differences(v, g)) for g in got):
                yield path
                return
    elif str(want).lower() != str(got).lower() and not (numeric(want) and numeric(got) and float(want) == float(got)):
        yield path


def numeric(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def check(stack, logical):
    """Returns the paths of a resource's properties that differ from the template."""
    r = stack.resources[logical]
    if logical not in stack.made or stack.id(logical) == "unknown":
        return ["(not made)"]
    want = {k: stack.value(v) for k, v in r.get("Properties", {}).items() if k not in NOT_READ}
    return sorted(set(differences(want, READ[r["Type"]](stack.id(logical), want))))


def main(template, name):
    with open(template) as f:
        stack = Stack(json.load(f), name)
    kinds, wrong, met = collections.Counter(), [], collections.Counter()
    for logical, r in sorted(stack.resources.items()):
        kinds[r["Type"]] += 1
        try:
            found = check(stack, logical)
        except Exception as e:
            found = [f"({e})"]
        for path in found:
            if (r["Type"], path) in KNOWN:
                met[r["Type"], path] += 1
            else:
                wrong.append(f"{r['Type']} {logical}: {path}")
    for kind, n in sorted(kinds.items()):
        print(f"  {n:3d} {kind}")
    for (kind, path), reason in KNOWN.items():
        print(f"  known: {path} of {met[kind, path]} {kind}: {reason}")
        if not met[kind, path]:
            wrong.append(f"{kind}: {path} is right now: take it out of KNOWN in check.py")
    print(f"{sum(kinds.values())} resources, {len(wrong)} wrong", *wrong, sep="\n  wrong: ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
