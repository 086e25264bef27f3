// Package cliext stands for the package of this name in the repository of Temporal's CLI. The CLI's go.mod replaces that module by a folder
// which is no part of the CLI's own module, and no version of it is published: so what the CLI needs of it is written here anew. It has the
// flags, the environment and the files of configuration, and remote codecs; it does not have logins with OAuth.
package cliext

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/envconfig"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/log"
	"google.golang.org/grpc"
)

// ClientOptionsBuilder makes the options of a client from flags, environment and files of configuration, in this order.
type ClientOptionsBuilder struct {
	CommonOptions CommonOptions
	ClientOptions ClientOptions
	EnvLookup     envconfig.EnvLookup
	Logger        *slog.Logger
	// PayloadCodec is the remote codec, once it is built, if there is one.
	PayloadCodec converter.PayloadCodec
}

// Build puts the options together.
func (b *ClientOptionsBuilder) Build(context.Context) (client.Options, error) {
	profile, err := envconfig.LoadClientConfigProfile(envconfig.LoadClientConfigProfileOptions{
		ConfigFilePath:    b.CommonOptions.ConfigFile,
		ConfigFileProfile: b.CommonOptions.Profile,
		DisableFile:       b.CommonOptions.DisableConfigFile,
		DisableEnv:        b.CommonOptions.DisableConfigEnv || b.EnvLookup == nil,
		EnvLookup:         b.EnvLookup,
	})
	if err != nil {
		return client.Options{}, err
	}
	if err := b.ClientOptions.applyTo(&profile); err != nil {
		return client.Options{}, err
	}
	options, err := profile.ToClientOptions(envconfig.ToClientOptionsRequest{})
	if err != nil {
		return client.Options{}, err
	}
	options.Identity = b.ClientOptions.Identity
	if b.Logger != nil {
		options.Logger = log.NewStructuredLogger(b.Logger)
	}
	return options, b.addCodec(&options, profile)
}

// applyTo puts flags over a profile; their defaults only where it says nothing.
func (o *ClientOptions) applyTo(profile *envconfig.ClientConfigProfile) error {
	text := func(flag, value string, to *string) {
		if given(o.FlagSet, flag) || *to == "" {
			*to = value
		}
	}
	text("address", o.Address, &profile.Address)
	text("namespace", o.Namespace, &profile.Namespace)
	text("api-key", o.ApiKey, &profile.APIKey)
	text("client-authority", o.ClientAuthority, &profile.Authority)
	if err := o.applyTLS(profile); err != nil {
		return err
	}
	headers, err := pairs(o.GrpcMeta)
	if err != nil {
		return err
	}
	for key, value := range headers {
		if profile.GRPCMeta == nil {
			profile.GRPCMeta = map[string]string{}
		}
		profile.GRPCMeta[envconfig.NormalizeGRPCMetaKey(key)] = value
	}
	codec := envconfig.ClientConfigCodec{}
	if profile.Codec != nil {
		codec = *profile.Codec
	}
	text("codec-endpoint", o.CodecEndpoint, &codec.Endpoint)
	text("codec-auth", o.CodecAuth, &codec.Auth)
	profile.Codec = &codec
	return nil
}

func (o *ClientOptions) applyTLS(profile *envconfig.ClientConfigProfile) error {
	flags := false
	tls := envconfig.ClientConfigTLS{}
	if profile.TLS != nil {
		tls = *profile.TLS
	}
	text := func(flag, value string, to *string, instead *[]byte) {
		if given(o.FlagSet, flag) {
			*to, *instead, flags = value, nil, true
		}
	}
	data := func(flag, value string, to *[]byte, instead *string) {
		if given(o.FlagSet, flag) {
			*to, *instead, flags = []byte(value), "", true
		}
	}
	text("tls-cert-path", o.TlsCertPath, &tls.ClientCertPath, &tls.ClientCertData)
	data("tls-cert-data", o.TlsCertData, &tls.ClientCertData, &tls.ClientCertPath)
	text("tls-key-path", o.TlsKeyPath, &tls.ClientKeyPath, &tls.ClientKeyData)
	data("tls-key-data", o.TlsKeyData, &tls.ClientKeyData, &tls.ClientKeyPath)
	text("tls-ca-path", o.TlsCaPath, &tls.ServerCACertPath, &tls.ServerCACertData)
	data("tls-ca-data", o.TlsCaData, &tls.ServerCACertData, &tls.ServerCACertPath)
	var none []byte
	text("tls-server-name", o.TlsServerName, &tls.ServerName, &none)
	if given(o.FlagSet, "tls-disable-host-verification") {
		tls.DisableHostVerification, flags = o.TlsDisableHostVerification, true
	}
	if given(o.FlagSet, "tls") {
		tls.Disabled, flags = !o.Tls, true
	}
	if flags {
		profile.TLS = &tls
	}
	return nil
}

// addCodec has payloads decoded by a remote codec, as an interceptor of calls.
func (b *ClientOptionsBuilder) addCodec(options *client.Options, profile envconfig.ClientConfigProfile) error {
	if profile.Codec == nil || profile.Codec.Endpoint == "" {
		return nil
	}
	headers, err := pairs(b.ClientOptions.CodecHeader)
	if err != nil {
		return err
	}
	b.PayloadCodec = converter.NewRemotePayloadCodec(converter.RemotePayloadCodecOptions{
		Endpoint: strings.ReplaceAll(profile.Codec.Endpoint, "{namespace}", options.Namespace),
		ModifyRequest: func(request *http.Request) error {
			request.Header.Set("X-Namespace", options.Namespace)
			if profile.Codec.Auth != "" {
				request.Header.Set("Authorization", profile.Codec.Auth)
			}
			for key, value := range headers {
				request.Header.Set(key, value)
			}
			return nil
		},
	})
	interceptor, err := converter.NewPayloadCodecGRPCClientInterceptor(
		converter.PayloadCodecGRPCClientInterceptorOptions{Codecs: []converter.PayloadCodec{b.PayloadCodec}},
	)
	options.ConnectionOptions.DialOptions = append(
		options.ConnectionOptions.DialOptions, grpc.WithChainUnaryInterceptor(interceptor))
	return err
}

func pairs(texts []string) (map[string]string, error) {
	all := make(map[string]string, len(texts))
	for _, text := range texts {
		key, value, found := strings.Cut(text, "=")
		if !found {
			return nil, fmt.Errorf("%q is not KEY=VALUE", text)
		}
		all[key] = value
	}
	return all, nil
}
