package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/jsii-runtime-go"
)

// addBudget sends mail to the address of the alarms when the month's cost of everything with the stack's tag
// reaches 80 and 100 % of the budget. AWS counts the tag only after it was activated as a cost allocation tag.
func (s *stack) addBudget() {
	if s.budget == 0 {
		return
	}
	notify := func(percent float64) any {
		return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
			Notification: &awsbudgets.CfnBudget_NotificationProperty{
				NotificationType: jsii.String("ACTUAL"), ComparisonOperator: jsii.String("GREATER_THAN"),
				Threshold: jsii.Number(percent), ThresholdType: jsii.String("PERCENTAGE")},
			Subscribers: &[]any{&awsbudgets.CfnBudget_SubscriberProperty{
				SubscriptionType: jsii.String("EMAIL"), Address: jsii.String(s.alarmsEmail)}},
		}
	}
	awsbudgets.NewCfnBudget(s.construct, id("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetType: jsii.String("COST"), TimeUnit: jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: jsii.Number(s.budget), Unit: jsii.String("USD")},
			CostFilters: map[string]any{"TagKeyValue": []string{"user:" + ownerTag + "$" + s.stackName()}},
		},
		NotificationsWithSubscribers: &[]any{notify(80), notify(100)},
	})
}
