package cliext

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// CommonOptions are the options of every command.
type CommonOptions struct {
	Env                     string
	EnvFile                 string
	ConfigFile              string
	Profile                 string
	DisableConfigFile       bool
	DisableConfigEnv        bool
	LogLevel                FlagStringEnum
	LogFormat               FlagStringEnum
	Output                  FlagStringEnum
	TimeFormat              FlagStringEnum
	Color                   FlagStringEnum
	NoJsonShorthandPayloads bool
	CommandTimeout          FlagDuration
	ClientConnectTimeout    FlagDuration
	FlagSet                 *pflag.FlagSet
}

func (*CommonOptions) Description() string { return "These options apply to every command.\n" }

// BuildFlags declares the flags.
func (o *CommonOptions) BuildFlags(f *pflag.FlagSet) {
	o.FlagSet = f
	f.StringVar(&o.Env, "env", "default", "Name of the environment.")
	f.StringVar(&o.EnvFile, "env-file", "", "File of environments.")
	f.StringVar(&o.ConfigFile, "config-file", "", "File of configuration, in TOML.")
	f.StringVar(&o.Profile, "profile", "", "Profile of the configuration.")
	f.BoolVar(&o.DisableConfigFile, "disable-config-file", false, "Read no file of configuration.")
	f.BoolVar(&o.DisableConfigEnv, "disable-config-env", false, "Read no environment variables.")
	word(f, &o.LogLevel, "log-level", "What is logged.", "never", "debug", "info", "warn", "error", "never")
	word(f, &o.LogFormat, "log-format", "Form of the log.", "text", "text", "json", "pretty")
	o.Output = NewFlagStringEnum([]string{"text", "json", "jsonl", "none"}, "text")
	f.VarP(&o.Output, "output", "o", "Form of what is printed: text, json, jsonl, none.")
	word(f, &o.TimeFormat, "time-format", "Form of times.", "relative", "relative", "iso", "raw")
	word(f, &o.Color, "color", "Colours.", "auto", "always", "never", "auto")
	f.BoolVar(&o.NoJsonShorthandPayloads, "no-json-shorthand-payloads", false, "Payloads as they are, also in JSON.")
	f.Var(&o.CommandTimeout, "command-timeout", "How long the command may take.")
	f.Var(&o.ClientConnectTimeout, "client-connect-timeout", "How long connecting may take.")
}

func word(f *pflag.FlagSet, to *FlagStringEnum, name, usage, value string, allowed ...string) {
	*to = NewFlagStringEnum(allowed, value)
	f.Var(to, name, fmt.Sprintf("%s One of %v.", usage, allowed))
}

// NewLogger logs to where it is told, as the options say.
func NewLogger(o CommonOptions, to io.Writer) (*slog.Logger, error) {
	if o.LogLevel.Value == "never" {
		return slog.New(slog.DiscardHandler), nil
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.LogLevel.Value)); err != nil {
		return nil, err
	}
	options := &slog.HandlerOptions{Level: level}
	if o.LogFormat.Value == "json" {
		return slog.New(slog.NewJSONHandler(to, options)), nil
	}
	return slog.New(slog.NewTextHandler(to, options)), nil
}

// ClientOptions say how a server is reached.
type ClientOptions struct {
	Address                    string
	ClientAuthority            string
	Namespace                  string
	Identity                   string
	ApiKey                     string
	GrpcMeta                   []string
	Tls                        bool
	TlsCertPath                string
	TlsCertData                string
	TlsKeyPath                 string
	TlsKeyData                 string
	TlsCaPath                  string
	TlsCaData                  string
	TlsDisableHostVerification bool
	TlsServerName              string
	CodecEndpoint              string
	CodecAuth                  string
	CodecHeader                []string
	FlagSet                    *pflag.FlagSet
}

func (*ClientOptions) Description() string {
	return "These options say how a server is reached. A flag goes before the environment, and that before a file.\n"
}

// BuildFlags declares the flags.
func (o *ClientOptions) BuildFlags(f *pflag.FlagSet) {
	o.FlagSet = f
	f.StringVar(&o.Address, "address", "localhost:7233", "Address of the server.")
	f.StringVar(&o.ClientAuthority, "client-authority", "", "Authority in the requests.")
	f.StringVarP(&o.Namespace, "namespace", "n", "default", "Namespace.")
	f.StringVar(&o.Identity, "identity", "", "Who asks.")
	f.StringVar(&o.ApiKey, "api-key", "", "API key.")
	f.StringArrayVar(&o.GrpcMeta, "grpc-meta", nil, "Header of requests, KEY=VALUE; may be repeated.")
	f.BoolVar(&o.Tls, "tls", false, "Use TLS.")
	f.StringVar(&o.TlsCertPath, "tls-cert-path", "", "File of the client's certificate.")
	f.StringVar(&o.TlsCertData, "tls-cert-data", "", "The client's certificate.")
	f.StringVar(&o.TlsKeyPath, "tls-key-path", "", "File of the client's key.")
	f.StringVar(&o.TlsKeyData, "tls-key-data", "", "The client's key.")
	f.StringVar(&o.TlsCaPath, "tls-ca-path", "", "File of the authority that signs for the server.")
	f.StringVar(&o.TlsCaData, "tls-ca-data", "", "The authority that signs for the server.")
	f.BoolVar(&o.TlsDisableHostVerification, "tls-disable-host-verification", false, "Do not check the server's name.")
	f.StringVar(&o.TlsServerName, "tls-server-name", "", "The server's name in its certificate.")
	f.StringVar(&o.CodecEndpoint, "codec-endpoint", "", "Address of a codec server.")
	f.StringVar(&o.CodecAuth, "codec-auth", "", "Authorization of requests to the codec server.")
	f.StringArrayVar(&o.CodecHeader, "codec-header", nil, "Header of requests to the codec server, KEY=VALUE; may be repeated.")
}

// HideFlags leaves the flags out of the help.
func (o *ClientOptions) HideFlags() { hide(o.FlagSet, new(ClientOptions)) }

// HideFlags leaves the flags out of the help.
func (o *CommonOptions) HideFlags() { hide(o.FlagSet, new(CommonOptions)) }

func hide(all *pflag.FlagSet, options interface{ BuildFlags(*pflag.FlagSet) }) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	options.BuildFlags(own)
	own.VisitAll(func(flag *pflag.Flag) {
		if known := all.Lookup(flag.Name); known != nil {
			known.Hidden = true
		}
	})
}

// given reports whether a flag was set by the user.
func given(f *pflag.FlagSet, name string) bool { return f != nil && f.Changed(name) }
