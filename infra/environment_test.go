package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"docent/shared/app"
	"docent/shared/deployed"
)

// unset are variables that the code reads and the stack never sets, each with the reason.
var unset = map[string]string{
	deployed.TablePrefix: "the tables have generated names",
	deployed.BlobPrefix:  "the bucket is of this stack alone",
	deployed.AWSEndpoint: "it is AWS itself",
}

func TestEveryVariableThatIsSetIsReadAndEveryOneReadIsSet(t *testing.T) {
	t.Parallel()
	ofModels := []string{deployed.ModelProvider, deployed.Model, deployed.ModelURL, deployed.ModelKey,
		deployed.EmbeddingProvider, deployed.EmbeddingModel, deployed.EmbeddingSize, deployed.EmbeddingURL, deployed.EmbeddingKey}
	for _, c := range []struct {
		name  string
		m     template
		model []string // which of ofModels are set
	}{{"plain", plain(t), ofModels[4:5]}, {"whole", whole(t), append([]string{ofModels[0], ofModels[1]}, ofModels[4:7]...)}, {"compatible", compatible(t), ofModels}} {
		for _, f := range functions {
			set, _ := c.m.of("AWS::Lambda::Function")[*functionID(f.name)].at("Environment", "Variables").(map[string]any)
			left := len(set)
			for _, v := range deployed.Environment {
				_, isSet := set[v.Name]
				if isSet {
					left--
				}
				given := !v.Runtime && unset[v.Name] == "" && (slices.Contains(c.model, v.Name) || !slices.Contains(ofModels, v.Name))
				if want := v.ReadBy(f.name) && given; isSet != want {
					t.Errorf("%s of %s: %s is set: %t, want %t", f.name, c.name, v.Name, isSet, want)
				}
			}
			if left != 0 {
				t.Errorf("%s of %s: nothing reads %d of %v", f.name, c.name, left, set)
			}
		}
	}
}

var reference = regexp.MustCompile(`\$\{[^}]*\}`)

// TestFunctionsStartWithTheirEnvironment reads the environment of each function as the function does.
func TestFunctionsStartWithTheirEnvironment(t *testing.T) {
	t.Parallel()
	for _, m := range []template{plain(t), whole(t), compatible(t)} {
		m.each(t, "AWS::Lambda::Function", func(t *testing.T, name string, r resource) {
			set, _ := r.at("Environment", "Variables").(map[string]any)
			_, err := app.ConfigFromEnv(func(variable string) string {
				if variable == deployed.Memory {
					return "512"
				}
				if strings.HasPrefix(variable, "AWS_") {
					return "of Lambda"
				}
				v, ok := set[variable]
				if !ok {
					return ""
				}
				return reference.ReplaceAllStringFunc(words(v), func(name string) string { // as AWS would resolve it
					if strings.HasSuffix(name, "Queue}") {
						return "https://queues.test/1/q"
					}
					return "of-aws"
				})
			})
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestBaseURLIsOneThroughout(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    template
		want string
	}{
		{plain(t), "https://${Api}.execute-api.${AWS::Region}.${AWS::URLSuffix}/v1"},
		{whole(t), "https://docent.example.com/v1"},
		{compatible(t), "http://localhost:4566/_aws/execute-api/${Api}/v1"},
	} {
		if got := words(c.m.Outputs["BaseURL"].Value); got != c.want {
			t.Errorf("output %s, want %s", got, c.want)
		}
		c.m.each(t, "AWS::Lambda::Function", func(t *testing.T, name string, r resource) {
			if got := words(r.at("Environment", "Variables", deployed.BaseURL)); got != c.want {
				t.Errorf("%s: %s, want %s", name, got, c.want)
			}
		})
	}
}
