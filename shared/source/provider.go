package source

import (
	"context"
	"slices"
	"time"
)

// ProviderName identifies a provider in the API and in stored records.
type ProviderName string

// Custom is the provider of collections. It cannot be connected.
const Custom ProviderName = "custom"

// Provider describes one place that data sources can be connected to. Its folder
// below shared/connect declares it, and app.Providers lists it; nothing else in
// Docent depends on which providers there are.
type Provider struct {
	Name     ProviderName
	Title    string // for people: its name and what is read, such as Jira issues
	Settings []Setting
	// Check returns a field error if new settings are invalid; nil: any are valid.
	// It gets only the settings and secrets listed in Settings.
	Check   func(Settings, Secrets) error
	Webhook *Webhook // nil: it sends no deliveries
	// Connected reports whether the connector reads a source with these settings and secrets;
	// nil: it reads every source. The others are filled by import or webhook.
	Connected func(Settings, Secrets) bool
	// Opener opens the connector; it is a connect.Opener. nil: items arrive by import
	// or webhook. Its type is any so that only programs that sync link the connector:
	// the linker drops a method that no interface call can reach.
	Opener        any
	SyncEvery     time.Duration // between the end of a sync and the start of the next
	FullScanEvery time.Duration // between full scans, which notice deleted items
}

// IsSynced reports whether a connector reads the provider's sources with these settings and
// secrets.
func (p Provider) IsSynced(s Settings, secrets Secrets) bool {
	return p.Opener != nil && (p.Connected == nil || p.Connected(s, secrets))
}

// SettingKind is the form of a setting.
type SettingKind int

// The kinds of settings. A secret is encrypted and never shown.
const (
	Text SettingKind = iota
	List
	Secret
	URL // a text
)

// Setting is one member of a data source's settings.
type Setting struct {
	Name        string
	Kind        SettingKind
	Help        string // half a sentence, for the API document, the command line and the dashboard
	Flag        string // of docent source add; of a secret it names the environment variable
	Placeholder string // of the flag's value, and of the field's
	Env         string // of a secret: the variable that is read by default
	Either      string // settings of one provider with the same text here exclude each other; a source has one of them
	// Required: a source that the connector reads has it. One that is filled by import may not.
	Required bool
	Choices  []string // the values of a text; nil: any
	// Opens is the value of a text with which the data source's defaultAccess decides who reads the items; empty: none. When it is
	// replaced by another one, nobody but team keys reads an item until it is read again.
	Opens string
	// Parts: it lists what the parts of a source are about, such as repositories. When it
	// changes, parts that stay keep their checkpoints; when another setting changes, all
	// are read again.
	Parts bool
}

// Webhook describes how a provider delivers changes.
type Webhook struct {
	OperationID string // in the API document, as are the next four
	Summary     string
	Headers     []Header
	Reply       string // description of a reply with a body; empty: no reply has one
	ReplyText   string // the member of that body, a string
	Label       string // of the URL that docent source add prints
	Guide       string // how to set it up at the provider, for the help of docent source add
	// Signature matches the first header; other values are rejected before the body is read.
	Signature string
	// IDHeader names the header with the id of a delivery. It allows to recognize a
	// repeat before the body is decoded; empty: Read returns the id, if there is one.
	IDHeader string
	// NewSecret names the secret that Docent generates for a new source; empty: the
	// provider generates it, and it is a setting.
	NewSecret string
	// Verify reports whether the delivery is signed with the source's secret.
	Verify func(d Delivery, secrets Secrets, now time.Time) bool
	// Read decodes a verified delivery.
	Read func(ctx context.Context, d Delivery) (Event, error)
}

// Header is a request header that a webhook reads.
type Header struct{ Name, Help string }

// Delivery is one webhook request of a provider.
type Delivery struct {
	Header    func(name string) string
	Body      []byte // as received, because the signature covers it
	RequestID string
}

// Event is the decoded content of a delivery. The zero Event changes nothing.
type Event struct {
	ID string // of the delivery, to recognize a repeat; empty: unknown, or in the IDHeader
	// Reply is a JSON body to reply with; nil: none.
	Reply []byte
	// Concerns reports whether the source's settings include what changed; nil: they do.
	Concerns func(Settings) bool
	Item     *Item     // as it is now
	Removed  []string  // uris of items that were deleted
	At       time.Time // when they were deleted
	Sync     bool      // the source should be synced soon
	// Stores decides by the checkpoint of Part whether Item is stored as it is. checkpoint is nil if the part has none. If
	// Stores returns false, a sync reads the item instead, provided that the part still exists. If Stores is nil, or if
	// no connector reads the source, the item is always stored.
	Stores func(checkpoint []byte) bool
	Part   string
}

// provider returns the provider with that name.
func (s *Service) provider(name ProviderName) (Provider, bool) {
	i := slices.IndexFunc(s.Providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return s.Providers[i], true
}
