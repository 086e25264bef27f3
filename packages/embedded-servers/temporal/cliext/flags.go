package cliext

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FlagDuration is a duration as the command line takes it: as in Go, and in days, such as 3d.
type FlagDuration time.Duration

// ParseFlagDuration reads a duration; a leading number of days may stand before the rest.
func ParseFlagDuration(text string) (time.Duration, error) {
	text = strings.TrimSpace(text)
	days, rest, found := strings.Cut(text, "d")
	if !found {
		days, rest = "", text
	}
	var sum time.Duration
	if days != "" {
		count, err := strconv.ParseFloat(days, 64)
		if err != nil {
			return 0, fmt.Errorf("invalid duration %q", text)
		}
		sum = time.Duration(count * 24 * float64(time.Hour))
	}
	if rest != "" || days == "" {
		more, err := time.ParseDuration(rest)
		if err != nil {
			return 0, err
		}
		sum += more
	}
	return sum, nil
}

// MustParseFlagDuration is ParseFlagDuration for texts that are known to be valid.
func MustParseFlagDuration(text string) FlagDuration {
	d, err := ParseFlagDuration(text)
	if err != nil {
		panic(err)
	}
	return FlagDuration(d)
}

func (d FlagDuration) Duration() time.Duration { return time.Duration(d) }
func (d *FlagDuration) String() string         { return d.Duration().String() }
func (d *FlagDuration) Type() string           { return "duration" }
func (d *FlagDuration) Set(text string) error {
	parsed, err := ParseFlagDuration(text)
	*d = FlagDuration(parsed)
	return err
}

// FlagTimestamp is a time in RFC 3339.
type FlagTimestamp time.Time

func (t FlagTimestamp) Time() time.Time { return time.Time(t) }
func (t *FlagTimestamp) Type() string   { return "timestamp" }
func (t *FlagTimestamp) String() string {
	if t.Time().IsZero() {
		return ""
	}
	return t.Time().Format(time.RFC3339)
}
func (t *FlagTimestamp) Set(text string) error {
	parsed, err := time.Parse(time.RFC3339, text)
	*t = FlagTimestamp(parsed)
	return err
}

// FlagStringEnum is one of several words, in whatever case it was typed.
type FlagStringEnum struct {
	Allowed            []string
	Value              string
	ChangedFromDefault bool
}

func NewFlagStringEnum(allowed []string, value string) FlagStringEnum {
	return FlagStringEnum{Allowed: allowed, Value: value}
}

func (e *FlagStringEnum) String() string { return e.Value }
func (e *FlagStringEnum) Type() string   { return "string" }
func (e *FlagStringEnum) Set(text string) error {
	word, err := oneOf(e.Allowed, text)
	if err == nil {
		e.Value, e.ChangedFromDefault = word, true
	}
	return err
}

// FlagStringEnumArray is any number of several words; the first that is set replaces the default.
type FlagStringEnumArray struct {
	Allowed []string
	Values  []string
	isSet   bool
}

func NewFlagStringEnumArray(allowed []string, values []string) FlagStringEnumArray {
	return FlagStringEnumArray{Allowed: allowed, Values: values}
}

func (e *FlagStringEnumArray) String() string { return strings.Join(e.Values, ",") }
func (e *FlagStringEnumArray) Type() string   { return "string[]" }
func (e *FlagStringEnumArray) Set(text string) error {
	word, err := oneOf(e.Allowed, text)
	if err != nil {
		return err
	}
	if !e.isSet {
		e.Values, e.isSet = nil, true
	}
	e.Values = append(e.Values, word)
	return nil
}

func oneOf(allowed []string, text string) (string, error) {
	found := slices.IndexFunc(allowed, func(word string) bool { return strings.EqualFold(word, text) })
	if found < 0 {
		return "", fmt.Errorf("%q is not one of %s", text, strings.Join(allowed, ", "))
	}
	return allowed[found], nil
}
