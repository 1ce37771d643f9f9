package ministack

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestOnlyWhatTheEmulatorCannotTakeIsChanged(t *testing.T) {
	t.Parallel()
	const template = `{"Outputs":{"O":{"Value":{"Fn::GetAtt":["A","Arn"]}}},"Resources":{
		"A":{"Type":"AWS::CloudWatch::Alarm","Properties":{"Threshold":1,"Metrics":[{"Id":"m","Expression":"a/b"}]}},
		"B":{"Type":"AWS::CloudWatch::Alarm","Properties":{"Threshold":2,"MetricName":"Errors"}},
		"R":{"Type":"AWS::IAM::Role","Properties":{"Policies":[{"Statement":[{"Action": "sqs:SendMessage","Effect":"Allow","Resource":"q"}]}]}}}}`
	fit, changes, err := standIn([]byte(template))
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Outputs   json.RawMessage
		Resources map[string]struct{ Properties map[string]any }
	}
	if err := json.Unmarshal(fit, &got); err != nil {
		t.Fatal(err)
	}
	a, b := got.Resources["A"].Properties, got.Resources["B"].Properties
	if a["Metrics"] != nil || a["MetricName"] != "StandIn" || a["Threshold"] != 1.0 || b["MetricName"] != "Errors" || b["Namespace"] != nil {
		t.Errorf("alarms %v, %v", a, b)
	}
	if !strings.Contains(string(fit), `["sqs:SendMessage","sqs:SendMessageBatch"]`) || !strings.Contains(string(got.Outputs), "Arn") || len(got.Resources) != 3 {
		t.Errorf("%s", fit)
	}
	if len(changes) != 2 {
		t.Errorf("changes %q", changes)
	}
	if _, _, err := standIn([]byte("{")); err == nil {
		t.Error("half a template is accepted")
	}
}
