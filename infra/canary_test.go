package main

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestNewVersionsAreTriedByAFewCalls checks that everything calls the aliases, and what shifts and undoes a deployment.
func TestNewVersionsAreTriedByAFewCalls(t *testing.T) {
	t.Parallel()
	m := careful(t)
	aliases := m.of("AWS::Lambda::Alias")
	if len(aliases) != len(functions) || len(m.of("AWS::Lambda::Version")) != len(functions) {
		t.Errorf("%d aliases and %d versions of %d functions", len(aliases), len(m.of("AWS::Lambda::Version")), len(functions))
	}
	groups := m.of("AWS::CodeDeploy::DeploymentGroup")
	for name, r := range aliases {
		text, err := json.Marshal(r.UpdatePolicy)
		if err != nil || !strings.Contains(string(text), "CodeDeployLambdaAliasUpdate") {
			t.Errorf("%s is updated at once: %s, %v", name, text, err)
		}
	}
	for name, r := range groups {
		if got := words(r.at("DeploymentConfigName")); got != "CodeDeployDefault.LambdaCanary10Percent5Minutes" {
			t.Errorf("%s shifts by %s", name, got)
		}
		if got := words(r.at("AutoRollbackConfiguration", "Events")); !strings.Contains(got, "DEPLOYMENT_STOP_ON_ALARM") || !strings.Contains(got, "DEPLOYMENT_FAILURE") {
			t.Errorf("%s is undone by %s", name, got)
		}
		alarms := words(r.at("AlarmConfiguration", "Alarms"))
		for _, alarm := range rollsBack {
			if !strings.Contains(alarms, "${Alarm"+alarm+"}") {
				t.Errorf("%s is not undone by the alarm %s, but by %s", name, alarm, alarms)
			}
		}
		if n := len(list(r.at("AlarmConfiguration", "Alarms"))); n > 10 { // CodeDeploy's limit
			t.Errorf("%s watches %d alarms", name, n)
		}
	}
	if len(groups) != len(functions) {
		t.Errorf("%d deployment groups", len(groups))
	}
	for _, kind := range []string{"AWS::Lambda::EventSourceMapping", "AWS::ApiGateway::Method", "AWS::Events::Rule", "AWS::Lambda::Permission"} {
		m.each(t, kind, func(t *testing.T, name string, r resource) {
			text, err := json.Marshal(r.Properties)
			if err != nil || !strings.Contains(string(text), "Live") {
				t.Errorf("%s does not call an alias: %s, %v", name, text, err)
			}
		})
	}
}
