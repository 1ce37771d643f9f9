package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/jsii-runtime-go"

	"docent/shared/table"
)

// recoveryDays is how many days back a table can be restored to any second; AWS's maximum.
const recoveryDays = 35

// addTables adds one table for each name, or takes the one that was restored into use (README.md, Restoring).
func (s *stack) addTables(names []string) {
	s.tables = map[string]awsdynamodb.ITable{}
	for _, name := range names {
		if s.restored != "" {
			s.tables[name] = awsdynamodb.Table_FromTableName(s.construct, id("Restored", name), jsii.String(s.stackName()+"-"+s.restored+"-"+name))
			continue
		}
		s.tables[name] = awsdynamodb.NewTable(s.construct, id("Table", name), &awsdynamodb.TableProps{
			PartitionKey:        keyOf(table.PartitionAttribute),
			SortKey:             keyOf(table.SortAttribute),
			TimeToLiveAttribute: jsii.String(table.ExpiresAttribute),
			BillingMode:         awsdynamodb.BillingMode_PAY_PER_REQUEST,
			Encryption:          s.tableEncryption(),
			PointInTimeRecoverySpecification: &awsdynamodb.PointInTimeRecoverySpecification{
				PointInTimeRecoveryEnabled: jsii.Bool(true), RecoveryPeriodInDays: jsii.Number(recoveryDays)},
			DeletionProtection: jsii.Bool(!s.destroy),
			RemovalPolicy:      s.removal(),
		})
	}
}

// tableEncryption returns whose key encrypts the tables. DynamoDB always encrypts. CloudTrail shows the uses of the account's key, and KMS
// charges for them; DynamoDB's own is free. CloudFormation changes the key of a table in place.
func (s settings) tableEncryption() awsdynamodb.TableEncryption {
	if s.freeKey {
		return awsdynamodb.TableEncryption_DEFAULT
	}
	return awsdynamodb.TableEncryption_AWS_MANAGED
}

func keyOf(attribute string) *awsdynamodb.Attribute {
	return &awsdynamodb.Attribute{Name: jsii.String(attribute), Type: awsdynamodb.AttributeType_STRING}
}
