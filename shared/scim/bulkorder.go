package scim

import (
	"net/http"
	"slices"
	"strings"
	"sync"

	"docent/shared/fold"
	"docent/shared/scim/protocol"
)

// linkDependencies sets what each operation needs: the operations whose ids it names, and the
// one before it on the same resource.
func (b *bulkRun) linkDependencies() {
	last := map[string]int{}
	for i, o := range b.operations {
		for name := range o.references() {
			if at, ok := b.byID[name]; ok {
				o.refers = append(o.refers, at)
			} else if o.fault == nil {
				o.fault = protocol.Bad(protocol.InvalidValue, "No operation of the request has the bulkId %q.", protocol.Shorten(name))
			}
		}
		o.needs = append(o.needs, o.refers...)
		if o.method == http.MethodPost {
			continue
		}
		if before, ok := last[o.resource()]; ok {
			o.needs = append(o.needs, before)
		}
		last[o.resource()] = i
	}
}

// breakCycles fails the operations that need each other. Each is failed once, however many cycles
// it is in.
func (b *bulkRun) breakCycles() {
	const (
		open = 1
		shut = 2
	)
	state, places := make([]int, len(b.operations)), make([]int, len(b.operations))
	// visit searches for cycles, depth first, from the operation i at the given depth. Of the operations on the path to i that
	// can be reached from i, it returns the depth of the one nearest the start; more than the depth of i if there is none.
	var visit func(i, place int) int
	visit = func(i, place int) int {
		state[i], places[i] = open, place
		lowest := place + 1
		for _, need := range b.operations[i].needs {
			switch state[need] {
			case 0:
				lowest = min(lowest, visit(need, place+1))
			case open:
				lowest = min(lowest, places[need])
			}
		}
		if lowest <= place {
			b.operations[i].fault = protocol.Refuse(http.StatusConflict, "", "The references of the operations form a cycle.")
		}
		state[i] = shut
		return lowest
	}
	for i := range b.operations {
		if state[i] == 0 {
			visit(i, 0)
		}
	}
	for _, o := range b.operations {
		if o.fault != nil {
			o.needs = nil // wait for nothing, so that no operation waits forever
		}
	}
}

// order returns the positions of the operations in the order of the request, but each after those
// that it needs. It makes an operation that gives a name need the one before it that gives the same.
func (b *bulkRun) order() []int {
	order := make([]int, 0, len(b.operations))
	placed := make([]bool, len(b.operations))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, need := range b.operations[i].needs {
			place(need)
		}
		order = append(order, i)
	}
	for i := range b.operations {
		place(i)
	}
	last := map[string]int{}
	for _, i := range order {
		o := b.operations[i]
		name := o.givenName()
		if name == "" || o.fault != nil {
			continue
		}
		if before, ok := last[name]; ok {
			o.needs = append(o.needs, before)
		}
		last[name] = i
	}
	return order
}

// resource returns the path in one spelling: that of two operations on one resource is the same.
func (o *bulkOperation) resource() string { return strings.ToLower(strings.Trim(o.path, "/")) }

// endpoint returns the first segment of the path, in lower case.
func (o *bulkOperation) endpoint() string {
	first, _, _ := strings.Cut(o.resource(), "/")
	return first
}

// uniqueNames are the attributes that no two resources of an endpoint share.
var uniqueNames = map[string]string{"users": "userName", "groups": "displayName"}

// givenName returns the unique name that a POST or PUT gives its resource, the same for names that
// differ in case or in their Unicode normal form, or "".
func (o *bulkOperation) givenName() string {
	if o.method == http.MethodPatch {
		return ""
	}
	attribute := uniqueNames[o.endpoint()]
	name, _ := protocol.MessageMember(o.data, attribute).(string)
	if name == "" {
		return ""
	}
	return o.endpoint() + "/" + fold.Composed(name)
}

// mayRename reports whether a PATCH may change the unique name of its resource.
func (o *bulkOperation) mayRename() bool {
	attribute := strings.ToLower(uniqueNames[o.endpoint()])
	if attribute == "" || o.method != http.MethodPatch {
		return false
	}
	operations, _ := protocol.MessageMember(o.data, "Operations").([]any)
	return slices.ContainsFunc(operations, func(operation any) bool {
		op, _ := operation.(map[string]any)
		path, _ := protocol.MessageMember(op, "path").(string)
		return strings.HasSuffix(strings.ToLower(path), attribute) || path == "" && sets(protocol.MessageMember(op, "value"), attribute)
	})
}

// sets reports whether an object has the attribute, in whatever case, under its name or its URN, or one within it has.
func sets(object any, attribute string) bool {
	members, _ := object.(map[string]any)
	for name, value := range members {
		if strings.HasSuffix(strings.ToLower(name), attribute) || sets(value, attribute) {
			return true
		}
	}
	return false
}

// parts splits the order into parts, which run one after the other. What an operation does to
// resources and names that others of its part may name is the same in any order (RFC 7644 section
// 3.7): deletions are not mixed with others, and neither a creation nor a PATCH of a name shares a part with an earlier
// change that may have freed its name. PUTs, of which a sync has many, share one: a name that one frees and another takes
// may be refused.
func (b *bulkRun) parts(order []int) [][]*bulkOperation {
	var parts [][]*bulkOperation
	var part []*bulkOperation
	changed := map[string]bool{} // endpoints with a PUT or a PATCH in the part
	renamed := map[string]bool{} // endpoints with a PATCH of a name in the part
	for _, i := range order {
		o := b.operations[i]
		deletes, renames := o.method == http.MethodDelete, o.mayRename()
		takesName := (o.method == http.MethodPost || renames) && changed[o.endpoint()] || o.method == http.MethodPut && renamed[o.endpoint()]
		if len(part) > 0 && (deletes != (part[0].method == http.MethodDelete) || takesName) {
			parts = append(parts, part)
			part = nil
			clear(changed)
			clear(renamed)
		}
		part = append(part, o)
		renamed[o.endpoint()] = renamed[o.endpoint()] || renames
		if o.method == http.MethodPut || o.method == http.MethodPatch {
			changed[o.endpoint()] = true
		}
	}
	return append(parts, part)
}

// runInOrder runs the operations one after the other until the error limit.
func (b *bulkRun) runInOrder(order []int) {
	errs := 0
	for _, i := range order {
		if errs >= b.limit {
			return
		}
		if b.run(b.operations[i]); b.operations[i].err != nil {
			errs++
		}
	}
}

// runInParallel runs the operations of a part that do not need each other in parallel.
func (b *bulkRun) runInParallel(order []int) {
	slots := make(chan struct{}, parallel)
	for _, part := range b.parts(order) {
		var wg sync.WaitGroup
		for _, o := range part {
			wg.Go(func() {
				for _, need := range o.needs {
					<-b.operations[need].done
				}
				slots <- struct{}{}
				b.run(o)
				<-slots
				close(o.done)
			})
		}
		wg.Wait()
	}
}
