package saml

import (
	"time"

	"github.com/beevik/etree"

	"docent/shared/signon"
)

// assertion returns whom the verified assertion names, after checking that it is for us, now, and
// in answer to our request (SAML V2.0 Core, section 2.3.3, and Profiles, section 4.1.4.2).
func (v verifier) assertion(el *etree.Element) (signon.Identity, error) {
	who := signon.Identity{Issuer: v.entityID, ProofID: el.SelectAttrValue("ID", "")}
	issuer, err := only(el, assertionSpace, "Issuer")
	if err != nil {
		return who, err
	}
	if text(issuer) != v.entityID {
		return who, fail(signon.OtherIssuer, "the assertion is of %.100q", text(issuer))
	}
	if el.SelectAttrValue("Version", "") != "2.0" || who.ProofID == "" {
		return who, malformed("the assertion has another version or no id")
	}
	if err := v.issued(el); err != nil {
		return who, err
	}
	subject, err := only(el, assertionSpace, "Subject")
	if err != nil {
		return who, err
	}
	if who.ProofEnd, err = v.confirmed(subject); err != nil {
		return who, err
	}
	if err := v.conditions(el, &who); err != nil {
		return who, err
	}
	if who.NotAfter, err = v.session(el); err != nil {
		return who, err
	}
	who.Name, err = v.name(el, subject)
	return who, err
}

// confirmed returns until when the subject is confirmed as the bearer of the assertion.
func (v verifier) confirmed(subject *etree.Element) (time.Time, error) {
	failure := malformed("the subject is not confirmed as the bearer")
	for _, c := range children(subject, assertionSpace, "SubjectConfirmation") {
		data := child(c, assertionSpace, "SubjectConfirmationData")
		if c.SelectAttrValue("Method", "") != bearer || data == nil {
			continue
		}
		end, ends := instant(data, "NotOnOrAfter")
		begin, begins := instant(data, "NotBefore")
		switch {
		case data.SelectAttrValue("Recipient", "") != v.acs:
			failure = fail(signon.OtherRecipient, "the recipient is %.100q", data.SelectAttrValue("Recipient", ""))
		case data.SelectAttrValue("InResponseTo", "") != v.request:
			failure = fail(signon.OtherRequest, "the assertion is for another request")
		case !ends || data.SelectAttr("NotBefore") != nil && !begins:
			failure = malformed("the confirmation has no valid time")
		case !v.now.Before(end.Add(signon.Skew)) || begins && v.now.Before(begin.Add(-signon.Skew)):
			failure = fail(signon.Expired, "the confirmation ended at %s, now is %s", end, v.now)
		default:
			return end.Add(signon.Skew), nil
		}
	}
	return time.Time{}, failure
}

// conditions checks the time and the audience.
func (v verifier) conditions(el *etree.Element, who *signon.Identity) error {
	conditions, err := only(el, assertionSpace, "Conditions")
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name  string
		holds func(time.Time) bool
	}{
		{"NotBefore", func(at time.Time) bool { return !v.now.Before(at.Add(-signon.Skew)) }},
		{"NotOnOrAfter", func(at time.Time) bool { return v.now.Before(at.Add(signon.Skew)) }},
	} {
		if conditions.SelectAttr(c.name) == nil {
			continue
		}
		at, ok := instant(conditions, c.name)
		if !ok {
			return malformed("%s is not a time", c.name)
		}
		if !c.holds(at) {
			return fail(signon.Expired, "%s is %s, now is %s", c.name, at, v.now)
		}
		if end := at.Add(signon.Skew); c.name == "NotOnOrAfter" && end.After(who.ProofEnd) {
			who.ProofEnd = end
		}
	}
	restrictions := children(conditions, assertionSpace, "AudienceRestriction")
	if len(restrictions) == 0 {
		return fail(signon.OtherAudience, "the assertion is for any service")
	}
	for _, r := range restrictions { // every one must hold
		ours := false
		for _, a := range children(r, assertionSpace, "Audience") {
			ours = ours || text(a) == v.audience
		}
		if !ours {
			return fail(signon.OtherAudience, "the assertion is not for %s", v.audience)
		}
	}
	return nil
}

// session returns when the provider wants the session to end, nil if it does not say.
func (v verifier) session(el *etree.Element) (*time.Time, error) {
	statements := children(el, assertionSpace, "AuthnStatement")
	if len(statements) == 0 {
		return nil, malformed("the assertion does not say that the user has signed in")
	}
	var earliest *time.Time
	for _, s := range statements {
		if s.SelectAttr("SessionNotOnOrAfter") == nil {
			continue
		}
		end, ok := instant(s, "SessionNotOnOrAfter")
		if !ok {
			return nil, malformed("SessionNotOnOrAfter is not a time")
		}
		if !v.now.Before(end) {
			return nil, fail(signon.Expired, "the session at the provider ended at %s", end)
		}
		if earliest == nil || end.Before(*earliest) {
			earliest = &end
		}
	}
	return earliest, nil
}

// name returns the user name from the NameID, or from the attribute that the team has chosen.
func (v verifier) name(el, subject *etree.Element) (string, error) {
	if v.attribute == "" {
		id, err := only(subject, assertionSpace, "NameID")
		if err != nil || text(id) == "" {
			return "", fail(signon.NoName, "the assertion has no NameID")
		}
		return text(id), nil
	}
	var values []string
	for _, statement := range children(el, assertionSpace, "AttributeStatement") {
		for _, a := range children(statement, assertionSpace, "Attribute") {
			if a.SelectAttrValue("Name", "") != v.attribute {
				continue
			}
			for _, value := range children(a, assertionSpace, "AttributeValue") {
				values = append(values, text(value))
			}
		}
	}
	if len(values) != 1 || values[0] == "" {
		return "", fail(signon.NoName, "the attribute %q has %d values", v.attribute, len(values))
	}
	return values[0], nil
}
