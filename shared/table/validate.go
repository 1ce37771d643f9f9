package table

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// MaxFieldBytes bounds the name of a number or string field.
const MaxFieldBytes = 255

// Check returns ErrInvalid for a key that no engine accepts. It does not check that the table
// exists.
func (k Key) Check() error {
	if err := checkPartition(k.Partition); err != nil {
		return err
	}
	if k.Sort == "" {
		return fmt.Errorf("%w: empty sort key", ErrInvalid)
	}
	return checkText("sort key", k.Sort, MaxSortBytes)
}

// checkPartition returns ErrInvalid for a partition key that no engine accepts.
func checkPartition(partition string) error {
	if partition == "" {
		return fmt.Errorf("%w: empty partition key", ErrInvalid)
	}
	return checkText("partition key", partition, MaxPartitionBytes)
}

func checkText(what, s string, limit int) error {
	switch {
	case len(s) > limit:
		return fmt.Errorf("%w: %s of %d bytes, at most %d", ErrInvalid, what, len(s), limit)
	case !utf8.ValidString(s):
		return fmt.Errorf("%w: %s is not UTF-8", ErrInvalid, what)
	case strings.IndexByte(s, 0) >= 0:
		return fmt.Errorf("%w: %s contains NUL", ErrInvalid, what)
	}
	return nil
}

func checkField(name string) error {
	if name == "" {
		return fmt.Errorf("%w: empty field name", ErrInvalid)
	}
	return checkText("field name", name, MaxFieldBytes)
}

func checkFields(numbers map[string]int64, texts map[string]string) error {
	for name := range numbers {
		if err := checkField(name); err != nil {
			return err
		}
	}
	for name, value := range texts {
		if err := checkField(name); err != nil {
			return err
		}
		if !utf8.ValidString(value) {
			return fmt.Errorf("%w: string field %q is not UTF-8", ErrInvalid, name)
		}
	}
	return nil
}

func checkSize(size int) error {
	if size > MaxItemBytes {
		return fmt.Errorf("%w: an item of %d bytes, at most %d", ErrTooLarge, size, MaxItemBytes)
	}
	return nil
}

// Check returns ErrInvalid or ErrTooLarge for an item that no engine accepts.
func (i Item) Check() error {
	if err := i.Key.Check(); err != nil {
		return err
	}
	if err := checkFields(i.Numbers, i.Strings); err != nil {
		return err
	}
	return checkSize(Size(i))
}

// Check returns ErrInvalid for a condition that no engine accepts.
func (c Condition) Check() error {
	switch c.Kind {
	case Always, IfAbsent, IfExists, IfVersion:
		return nil
	case IfString:
		if !utf8.ValidString(c.Text) {
			return fmt.Errorf("%w: the string to compare with is not UTF-8", ErrInvalid)
		}
		return checkField(c.Field)
	case IfBelow:
		return checkField(c.Field)
	default:
		return fmt.Errorf("%w: unknown condition %d", ErrInvalid, c.Kind)
	}
}

// Check returns ErrInvalid or ErrTooLarge for an Add that no engine accepts for any item.
func (a Add) Check() error {
	if err := a.Key.Check(); err != nil {
		return err
	}
	for name := range a.By {
		if err := checkField(name); err != nil {
			return err
		}
		if _, twice := a.Numbers[name]; twice {
			return fmt.Errorf("%w: number %q is both set and added to", ErrInvalid, name)
		}
	}
	if err := checkFields(a.Numbers, a.Strings); err != nil {
		return err
	}
	if err := a.If.Check(); err != nil {
		return err
	}
	return checkSize(a.size())
}

// size returns the size of the item that a creates.
func (a Add) size() int {
	return Size(Item{Key: a.Key, Expires: a.Expires, Strings: a.Strings}) + numbersSize(a.Numbers) + numbersSize(a.By)
}

// CheckOps returns ErrInvalid or ErrTooLarge for a Write that no engine accepts for any items.
func CheckOps(ops []Op) error {
	if len(ops) == 0 || len(ops) > MaxOps {
		return fmt.Errorf("%w: a write of %d operations, not 1 to %d", ErrInvalid, len(ops), MaxOps)
	}
	seen := make(map[Key]bool, len(ops))
	total := 0
	for n, op := range ops {
		size, err := checkOp(op)
		if err != nil {
			return fmt.Errorf("operation %d: %w", n, err)
		}
		if key := KeyOf(op); seen[key] {
			return fmt.Errorf("operation %d: %w: an earlier operation has the same key", n, ErrInvalid)
		} else {
			seen[key] = true
		}
		total += size
	}
	if len(ops) > 1 && total > MaxWriteBytes {
		return fmt.Errorf("%w: a write of %d bytes, at most %d", ErrTooLarge, total, MaxWriteBytes)
	}
	return nil
}

func checkOp(op Op) (size int, err error) {
	switch op := op.(type) {
	case Put:
		if err := op.If.Check(); err != nil {
			return 0, err
		}
		return Size(op.Item), op.Item.Check()
	case Delete:
		if err := op.If.Check(); err != nil {
			return 0, err
		}
		return 0, op.Key.Check()
	case Check:
		if err := op.If.Check(); err != nil {
			return 0, err
		}
		return 0, op.Key.Check()
	case Add:
		return op.size(), op.Check()
	default:
		return 0, fmt.Errorf("%w: %T is not an operation", ErrInvalid, op)
	}
}

// Check returns ErrInvalid for a query that no engine accepts. The cursor is
// read by After.
func (q Query) Check() error {
	if err := checkPartition(q.Partition); err != nil {
		return err
	}
	if q.Prefix != "" && q.From+q.To != "" {
		return fmt.Errorf("%w: a query by prefix and by range", ErrInvalid)
	}
	if q.Limit < 0 {
		return fmt.Errorf("%w: a negative limit", ErrInvalid)
	}
	for _, bound := range []string{q.Prefix, q.From, q.To} {
		if err := checkText("bound of a query", bound, MaxSortBytes); err != nil {
			return err
		}
	}
	return nil
}

// Empty reports whether q's range contains no keys.
func (q Query) Empty() bool { return q.To != "" && q.From > q.To }
