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
		"R":{"Type":"AWS::IAM::Role","Properties":{"Policies":[{"Statement":[{"Action": "sqs:SendMessage","Effect":"Allow","Resource":"q"}]}]}},
		"M":{"Type":"AWS::ApiGateway::Method","Properties":{"Integration":{"ResponseTransferMode":"STREAM","Uri":{"Fn::Join":["",["lambda:path/2021-11-15/functions/","/response-streaming-invocations"]]}}}},
		"F":{"Type":"AWS::Lambda::Function","Properties":{"Environment":{"Variables":{"DOCENT_RESPONSE_TRANSFER":"stream"}}}}}}`
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
	if !strings.Contains(string(fit), `["sqs:SendMessage","sqs:SendMessageBatch"]`) || !strings.Contains(string(got.Outputs), "Arn") || len(got.Resources) != 5 {
		t.Errorf("%s", fit)
	}
	for _, stream := range []string{"STREAM", "2021-11-15", "streaming", `"stream"`} {
		if strings.Contains(string(fit), stream) {
			t.Errorf("%s is left in %s", stream, fit)
		}
	}
	if len(changes) != 3 {
		t.Errorf("changes %q", changes)
	}
	if _, _, err := standIn([]byte("{")); err == nil {
		t.Error("half a template is accepted")
	}
}
