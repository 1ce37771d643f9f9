package protocol

// The URNs of the schemas of RFC 7643.
const (
	UserURN       = "urn:ietf:params:scim:schemas:core:2.0:User"
	GroupURN      = "urn:ietf:params:scim:schemas:core:2.0:Group"
	EnterpriseURN = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
)

// Schemas are the resource schemas, in the order of /Schemas.
var Schemas = []*Schema{userSchema, groupSchema, enterpriseSchema}

// The resource types, in the order of /ResourceTypes.
var (
	UserType = &ResourceType{Name: "User", Endpoint: "/Users", Core: userSchema, Extensions: []*Schema{enterpriseSchema}}

	GroupType = &ResourceType{Name: "Group", Endpoint: "/Groups", Core: groupSchema}

	ResourceTypes = []*ResourceType{UserType, GroupType}
)

func text(name, description string) *Attribute {
	return &Attribute{Name: name, Kind: stringKind, Description: description,
		Mutability: readWrite, Returned: byDefault, Uniqueness: none}
}

func (a *Attribute) of(k Kind, references ...string) *Attribute {
	a.Kind, a.References = k, references
	a.CaseExact = k == referenceKind || k == binaryKind
	return a
}

func (a *Attribute) exact() *Attribute { a.CaseExact = true; return a }

func (a *Attribute) required() *Attribute { a.Required = true; return a }

func (a *Attribute) changes(mutability string) *Attribute { a.Mutability = mutability; return a }

func (a *Attribute) derive() *Attribute { a.derived = true; return a }

func (a *Attribute) compose() *Attribute { a.composed = true; return a }

func (a *Attribute) unique() *Attribute { a.Uniqueness = server; return a }

func (a *Attribute) one(of ...string) *Attribute { a.Canonical = of; return a }

func object(name, description string, sub ...*Attribute) *Attribute {
	a := text(name, description).of(complexKind)
	a.Sub = sub
	return a
}

func list(name, description string, sub ...*Attribute) *Attribute {
	a := object(name, description, sub...)
	a.Multi = true
	return a
}

// plural returns a list whose elements have a value, a label, a type and a primary flag (RFC
// 7643 section 2.4).
func plural(name, description string, value *Attribute, types ...string) *Attribute {
	return list(name, description,
		value,
		text("display", "A label for people."),
		text("type", "What the value is for.").one(types...),
		text("primary", "Whether this is the preferred value; at most one is.").of(booleanKind))
}

var userSchema = &Schema{ID: UserURN, Name: "User", Description: "User Account", Attributes: []*Attribute{
	text("userName", "The name by which the user signs in; unique in the team without regard to case.").required().unique().compose(),
	object("name", "The parts of the user's name.",
		text("formatted", "The whole name as it is shown."),
		text("familyName", "The family name."),
		text("givenName", "The given name."),
		text("middleName", "The middle names."),
		text("honorificPrefix", "Titles before the name."),
		text("honorificSuffix", "Suffixes after the name.")),
	text("displayName", "The name shown to people; the userName if none is set."),
	text("nickName", "How the user is called casually."),
	text("profileUrl", "A page about the user.").of(referenceKind, "external"),
	text("title", "The job title."),
	text("userType", "The relation to the organization, such as Employee."),
	text("preferredLanguage", "A language range as in Accept-Language."),
	text("locale", "The place for formats of dates and numbers, such as en-US."),
	text("timezone", "A name of the time zone database, such as Europe/Berlin."),
	text("active", "Whether the user may use the service; true if none is set.").of(booleanKind),
	password(),
	plural("emails", "E-mail addresses.", text("value", "The address."), "work", "home", "other"),
	plural("phoneNumbers", "Telephone numbers.", text("value", "The number."), "work", "home", "mobile", "fax", "pager", "other"),
	plural("ims", "Addresses for instant messages.", text("value", "The address.")),
	plural("photos", "Pictures of the user.", text("value", "Where the picture is.").of(referenceKind, "external"), "photo", "thumbnail"),
	list("addresses", "Postal addresses.",
		text("formatted", "The whole address as it is shown."),
		text("streetAddress", "Street, number, box."),
		text("locality", "City."),
		text("region", "State or region."),
		text("postalCode", "Postal code."),
		text("country", "Country as two letters (ISO 3166-1)."),
		text("type", "What the address is for.").one("work", "home", "other"),
		text("primary", "Whether this is the preferred address; at most one is.").of(booleanKind)),
	list("groups", "The groups that the user is a direct member of; changed through the groups.",
		text("value", "The id of the group.").exact().changes(readOnly),
		text("$ref", "Where the group is.").of(referenceKind, "Group").changes(readOnly),
		text("display", "The group's displayName.").changes(readOnly),
		text("type", "How the user is a member.").changes(readOnly).one("direct")).changes(readOnly),
	plural("entitlements", "What the user is entitled to.", text("value", "The entitlement.")),
	plural("roles", "The user's roles. The value admin makes a team admin; only a team admin's personal key sets or removes it, otherwise it is ignored.", text("value", "The role.")),
	plural("x509Certificates", "Certificates of the user.", text("value", "DER, in base64.").of(binaryKind)),
}}

func password() *Attribute {
	a := text("password", "Accepted and discarded: users do not sign in by password.").exact().changes(writeOnly)
	a.Returned = never
	return a
}

var groupSchema = &Schema{ID: GroupURN, Name: "Group", Description: "Group", Attributes: []*Attribute{
	text("displayName", "The group's name; unique in the team without regard to case.").required().unique().compose(),
	list("members", "The users in the group.",
		text("value", "The id of a user of the team.").exact().required().changes(immutable),
		text("$ref", "Where the user is.").of(referenceKind, "User").changes(immutable).derive(),
		text("type", "Always User.").changes(immutable).one("User"),
		text("display", "A name for people.").changes(immutable)),
}}

var enterpriseSchema = &Schema{ID: EnterpriseURN, Name: "EnterpriseUser", Description: "Enterprise User",
	Attributes: []*Attribute{
		text("employeeNumber", "The number or text by which the organization knows the user."),
		text("costCenter", "The cost center."),
		text("organization", "The organization."),
		text("division", "The division."),
		text("department", "The department."),
		object("manager", "The user's manager.",
			text("value", "The id of the manager.").exact(),
			text("$ref", "Where the manager is.").of(referenceKind, "User").changes(readOnly),
			text("displayName", "The manager's displayName, if the manager is a user of the team.").changes(readOnly)),
	}}
