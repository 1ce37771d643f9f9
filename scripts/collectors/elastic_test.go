package collectors

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"reflect"
	"time"

	"github.com/elastic/mito/lib"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/decls"
	"github.com/google/cel-go/common/types"
	"google.golang.org/protobuf/types/known/structpb"
	"gopkg.in/yaml.v3"
)

// elastic does what Filebeat does with a configuration of the CEL input: it evaluates the program, delivers its
// events, then saves its cursor, and evaluates it again, at once while the program wants more.
type elastic struct {
	program cel.Program
	state   map[string]any
	sink    string
	kept    string // the cursor file
}

// pause is the time between two polls, instead of the interval of the recipe.
const pause = 100 * time.Millisecond

func runElastic(config string) error {
	var filebeat struct {
		Inputs []struct {
			URL     string         `yaml:"resource.url"`
			State   map[string]any `yaml:"state"`
			Program string         `yaml:"program"`
		} `yaml:"filebeat.inputs"`
	}
	if err := yaml.Unmarshal([]byte(os.ExpandEnv(config)), &filebeat); err != nil {
		return fmt.Errorf("read the recipe: %w", err)
	}
	if len(filebeat.Inputs) != 1 {
		return fmt.Errorf("the recipe has %d inputs", len(filebeat.Inputs))
	}
	input := filebeat.Inputs[0]
	e := &elastic{state: input.State, sink: os.Getenv("SINK"), kept: "filebeat.cursor"}
	e.state["url"] = input.URL
	env, err := cel.NewEnv(cel.VariableDecls(decls.NewVariable("state", types.DynType)),
		cel.OptionalTypes(cel.OptionalTypesVersion(lib.OptionalTypesVersion)),
		lib.Collections(), lib.Crypto(), lib.JSON(nil), lib.Strings(), lib.Time(), lib.Try(),
		lib.HTTPWithContextOpts(context.Background(), nil, lib.HTTPOptions{}))
	if err != nil {
		return err
	}
	ast, issues := env.Compile(input.Program)
	if issues.Err() != nil {
		return fmt.Errorf("compile the program: %w", issues.Err())
	}
	if e.program, err = env.Program(ast); err != nil {
		return err
	}
	saved, err := os.ReadFile(e.kept)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(saved) > 0 {
		var cursor any
		if err := json.Unmarshal(saved, &cursor); err != nil {
			return err
		}
		e.state["cursor"] = cursor
	}
	for {
		more, err := e.once()
		if err != nil {
			log.Print(err) // Filebeat reports it and tries again
		}
		if !more {
			time.Sleep(pause)
		}
	}
}

// once evaluates the program once and reports whether it wants more.
func (e *elastic) once() (more bool, err error) {
	out, _, err := e.program.Eval(map[string]any{"state": e.state})
	if err != nil {
		return false, fmt.Errorf("evaluate the program: %w", err)
	}
	value, err := out.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return false, err
	}
	next, ok := value.(*structpb.Value).AsInterface().(map[string]any)
	if !ok {
		return false, fmt.Errorf("the program returned %T", value)
	}
	events, ok := next["events"].([]any)
	if !ok {
		return false, fmt.Errorf("the program reports %v", next["events"])
	}
	var lines bytes.Buffer
	for _, event := range events {
		fmt.Fprintln(&lines, event.(map[string]any)["message"])
	}
	if lines.Len() > 0 {
		response, err := http.Post(e.sink, "application/x-ndjson", &lines)
		if err != nil {
			return false, err
		}
		if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
			return false, fmt.Errorf("hand on: status %d, %w", response.StatusCode, err)
		}
	}
	delete(next, "events")
	more, _ = next["want_more"].(bool)
	e.state = next
	cursor, err := json.Marshal(next["cursor"])
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(e.kept+".new", cursor, 0o600); err != nil {
		return false, err
	}
	return more, os.Rename(e.kept+".new", e.kept)
}
