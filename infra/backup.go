package main

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbackup"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsevents"
	"github.com/aws/aws-cdk-go/awscdk/v2/awseventstargets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// backupsID is the name in the assembly of the stack that holds the copies in the other region.
const backupsID = "DocentBackups"

// stagedDays is how long a backup stays in the region of the tables, from where it is copied. Any second of the last 35 days
// can be restored there without it.
const stagedDays = 2

// replacedDays is how long a deleted original file can be brought back, in both regions: as long as the tables.
const replacedDays = recoveryDays

// longestBackupName bounds the stack's name with backups: a bucket's name has 63 characters and this one ends with the account and
// the region.
const longestBackupName = 26

// backupsName is the name of the stack of the copies, and of their vault.
func (s settings) backupsName() string { return s.stackName() + "-backups" }

// replicaName is the name of the bucket with the copies of the original files. A name without a region's own parts could exist
// only once in AWS.
func (s settings) replicaName() *string {
	return jsii.String(strings.ToLower(s.backupsName()) + "-" + *awscdk.Aws_ACCOUNT_ID() + "-" + s.backupRegion)
}

// newBackups adds the stack of the other region: a vault for the copies of the tables, and a bucket for those of the original files.
// It needs no bootstrap of that region, since it has no assets.
func newBackups(app awscdk.App, s settings) awscdk.Stack {
	far := awscdk.NewStack(app, jsii.String(backupsID), &awscdk.StackProps{
		StackName:             jsii.String(s.backupsName()),
		Description:           jsii.String("Docent: the copies of the data of a stack in another region."),
		Env:                   &awscdk.Environment{Region: jsii.String(s.backupRegion)},
		TerminationProtection: jsii.Bool(true),
		Synthesizer:           awscdk.NewBootstraplessSynthesizer(&awscdk.BootstraplessSynthesizerProps{}),
	})
	awscdk.Tags_Of(far).Add(jsii.String(ownerTag), jsii.String(s.backupsName()), nil)
	s.obey(far)
	awsbackup.NewBackupVault(far, id("Vault"), &awsbackup.BackupVaultProps{
		BackupVaultName: jsii.String(s.backupsName()), RemovalPolicy: copiesStay})
	rules := versionRules()
	awss3.NewBucket(far, id("Originals"), &awss3.BucketProps{
		BucketName:        s.replicaName(),
		BlockPublicAccess: awss3.BlockPublicAccess_BLOCK_ALL(),
		ObjectOwnership:   awss3.ObjectOwnership_BUCKET_OWNER_ENFORCED,
		Encryption:        awss3.BucketEncryption_S3_MANAGED,
		EnforceSSL:        jsii.Bool(true),
		MinimumTLSVersion: jsii.Number(1.2),
		Versioned:         jsii.Bool(true),
		LifecycleRules:    &rules,
		RemovalPolicy:     copiesStay,
	})
	// Here, because it is needed when the other region is lost. AWS's own policy: it changes with what AWS Backup needs.
	restores := awsiam.NewRole(far, id("Restoring"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
		Description: jsii.String("What AWS Backup may do to restore Docent's tables."),
		ManagedPolicies: &[]awsiam.IManagedPolicy{
			awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForRestores"))},
	})
	restores.ApplyRemovalPolicy(copiesStay)
	awscdk.NewCfnOutput(far, jsii.String("RestoreRole"), &awscdk.CfnOutputProps{
		Description: jsii.String("With which AWS Backup restores the tables."), Value: restores.RoleArn()})
	return far
}

// copiesStay keeps what holds copies whatever happens to the stacks, also with removal=destroy: copies are for that. What belongs to a
// creation that failed goes, because its name would be in the way of the next one.
const copiesStay = awscdk.RemovalPolicy_RETAIN_ON_UPDATE_OR_DELETE

// versionRules are the rules of a bucket with versions: what has been deleted goes after a while. Search segments are
// rebuilt from the tables, so they go at once.
func versionRules() []*awss3.LifecycleRule {
	after := func(days float64, prefix string) *awss3.LifecycleRule {
		return &awss3.LifecycleRule{Id: jsii.String("deleted " + prefix), Prefix: jsii.String(prefix),
			NoncurrentVersionExpiration: awscdk.Duration_Days(jsii.Number(days))}
	}
	return []*awss3.LifecycleRule{after(replacedDays, strings.TrimSuffix(originals, "*")), after(1, "segments/"), after(1, "vectors/"),
		{Id: jsii.String("markers"), ExpiredObjectDeleteMarker: jsii.Bool(true)}}
}

// addBackups backs the tables up every day with a copy in the other region, and copies original files there as they are stored. The
// stack far must have been deployed before.
func (s *stack) addBackups(far awscdk.Stack) {
	s.construct.AddStackDependency(far, nil)
	name := jsii.String(s.backupsName())
	near := awsbackup.NewBackupVault(s.construct, id("BackupVault"), &awsbackup.BackupVaultProps{
		BackupVaultName: name, RemovalPolicy: copiesStay})
	plan := awsbackup.NewBackupPlan(s.construct, id("BackupPlan"), &awsbackup.BackupPlanProps{BackupPlanName: name, BackupVault: near})
	copies := awsbackup.BackupVault_FromBackupVaultArn(s.construct, id("FarVault"), awscdk.Fn_Join(jsii.String(":"), &[]*string{
		jsii.String("arn"), s.construct.Partition(), jsii.String("backup"), jsii.String(s.backupRegion), s.construct.Account(),
		jsii.String("backup-vault"), name}))
	plan.AddRule(awsbackup.NewBackupPlanRule(&awsbackup.BackupPlanRuleProps{
		RuleName:           jsii.String("daily"),
		ScheduleExpression: awsevents.Schedule_Cron(&awsevents.CronOptions{Hour: jsii.String("3"), Minute: jsii.String("0")}),
		StartWindow:        awscdk.Duration_Hours(jsii.Number(1)),
		CompletionWindow:   awscdk.Duration_Hours(jsii.Number(12)),
		DeleteAfter:        awscdk.Duration_Days(jsii.Number(stagedDays)),
		CopyActions: &[]*awsbackup.BackupPlanCopyActionProps{{
			DestinationBackupVault: copies, DeleteAfter: awscdk.Duration_Days(jsii.Number(s.backupDays))}},
	}))
	var tables []awsbackup.BackupResource
	for _, t := range table.Names {
		tables = append(tables, awsbackup.BackupResource_FromArn(s.tables[t].TableArn()))
	}
	plan.AddSelection(id("Tables"), &awsbackup.BackupSelectionOptions{
		BackupSelectionName: jsii.String("tables"), Resources: &tables,
		// AWS's own policy: it changes with what AWS Backup needs.
		Role: awsiam.NewRole(s.construct, id("BackupRole"), &awsiam.RoleProps{
			AssumedBy:   awsiam.NewServicePrincipal(jsii.String("backup.amazonaws.com"), nil),
			Description: jsii.String("What AWS Backup may do for Docent's tables."),
			ManagedPolicies: &[]awsiam.IManagedPolicy{
				awsiam.ManagedPolicy_FromAwsManagedPolicyName(jsii.String("service-role/AWSBackupServiceRolePolicyForBackup"))},
		}),
		DisableDefaultBackupPolicy: jsii.Bool(true),
	})
	s.replicate()
	s.tellOfBackups(*near.BackupVaultArn())
}

// replicate copies the original files to the bucket of the other region, and their deletion.
func (s *stack) replicate() {
	there := awscdk.Fn_Join(jsii.String(":"), &[]*string{jsii.String("arn"), s.construct.Partition(), jsii.String("s3"), jsii.String(""), jsii.String(""), s.replicaName()})
	allow := func(resource *string, actions ...string) awsiam.PolicyStatement {
		return awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{Actions: jsii.Strings(actions...), Resources: &[]*string{resource}})
	}
	role := awsiam.NewRole(s.construct, id("ReplicationRole"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("s3.amazonaws.com"), nil),
		Description: jsii.String("What S3 may do to copy Docent's original files to another region."),
	})
	// Not part of the role: the bucket names the role, and the policy the bucket.
	awsiam.NewPolicy(s.construct, id("ReplicationPolicy"), &awsiam.PolicyProps{
		Roles: &[]awsiam.IRole{role},
		Statements: &[]awsiam.PolicyStatement{
			allow(s.bucket.BucketArn(), "s3:GetReplicationConfiguration", "s3:ListBucket"),
			allow(s.bucket.ArnForObjects(jsii.String(originals)), "s3:GetObjectVersionAcl", "s3:GetObjectVersionForReplication", "s3:GetObjectVersionTagging"),
			allow(jsii.String(*there+"/"+originals), "s3:ReplicateDelete", "s3:ReplicateObject", "s3:ReplicateTags"),
		},
	})
	bucket, ok := s.bucket.Node().DefaultChild().(awss3.CfnBucket)
	if !ok {
		panic(fmt.Sprintf("the bucket is a %T", s.bucket.Node().DefaultChild()))
	}
	bucket.SetReplicationConfiguration(&awss3.CfnBucket_ReplicationConfigurationProperty{
		Role: role.RoleArn(),
		Rules: &[]any{&awss3.CfnBucket_ReplicationRuleProperty{
			Id: jsii.String("originals"), Status: jsii.String("Enabled"), Priority: jsii.Number(1),
			Filter:                  &awss3.CfnBucket_ReplicationRuleFilterProperty{Prefix: jsii.String(strings.TrimSuffix(originals, "*"))},
			DeleteMarkerReplication: &awss3.CfnBucket_DeleteMarkerReplicationProperty{Status: jsii.String("Enabled")},
			Destination:             &awss3.CfnBucket_ReplicationDestinationProperty{Bucket: there},
		}},
	})
}

// tellOfBackups notifies the receivers of alarms if a backup of the tables, or the copy of one, fails.
func (s *stack) tellOfBackups(vault string) {
	var targets []awsevents.IRuleTarget
	for _, topic := range s.topics {
		targets = append(targets, awseventstargets.NewSnsTopic(topic, nil))
	}
	for _, job := range []struct{ name, vault string }{{"Backup", "backupVaultArn"}, {"Copy", "sourceBackupVaultArn"}} {
		awsevents.NewRule(s.construct, id("Failed", job.name), &awsevents.RuleProps{
			Description: jsii.String("A backup of Docent's tables failed: " + job.name + "."),
			EventPattern: &awsevents.EventPattern{
				Source: jsii.Strings("aws.backup"), DetailType: jsii.Strings(job.name + " Job State Change"),
				Detail: &map[string]any{"state": []string{"FAILED", "ABORTED", "EXPIRED"}, job.vault: []string{vault}},
			},
			Targets: &targets,
		})
	}
}
