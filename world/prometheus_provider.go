package world

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// useProvider reads the block with the connection to Prometheus. Its mistakes
// are told where it is loaded; a secret that is not set is none of them, and
// is told when it is needed.
func (w *World) useProvider(b Block) {
	content, _, _ := b.Body.PartialContent(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "address"},
		{Name: "timeout"},
		{Name: "headers"},
		{Name: "user"},
		{Name: "password"},
		{Name: "bearer_token"},
		{Name: "ca_file"},
		{Name: "cert_file"},
		{Name: "key_file"},
	}})
	s := &promServer{header: http.Header{}}
	p := &providerReader{w: w, attrs: content.Attributes, s: s}
	s.address = p.text("address")
	s.timeout, _ = time.ParseDuration(p.text("timeout"))
	for k, v := range p.texts("headers") {
		s.header.Set(k, v)
	}
	if user := p.text("user"); user != "" {
		s.header.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user+":"+p.text("password"))))
	}
	if token := p.text("bearer_token"); token != "" {
		s.header.Set("Authorization", "Bearer "+token)
	}
	s.files = tlsFiles{ca: p.file("ca_file"), cert: p.file("cert_file"), key: p.file("key_file")}
	if err := checkURL(s.address); err != nil && s.trouble == "" {
		s.trouble = fmt.Sprintf("provider \"prometheus\": address: %s", err)
	}
	w.provider = s
	w.servers = append(w.servers, s)
}

// providerReader evaluates the attributes of a provider.
type providerReader struct {
	w     *World
	attrs hcl.Attributes
	s     *promServer
}

func (p *providerReader) value(name string, want cty.Type) (cty.Value, bool) {
	a := p.attrs[name]
	if a == nil {
		return cty.NilVal, false
	}
	v, diags := a.Expr.Value(p.w.eval)
	v, _ = v.UnmarkDeep()
	var err error = diags
	if !diags.HasErrors() {
		v, err = convert.Convert(v, want)
	}
	if err != nil || v.IsNull() || !v.IsWhollyKnown() || want.IsMapType() && hasNull(v) {
		p.s.trouble = fmt.Sprintf("the %s of provider \"prometheus\" is not known", name)
		if diags.HasErrors() {
			p.s.trouble += ": " + diags[0].Detail
		}
		return cty.NilVal, false
	}
	return v, true
}

func (p *providerReader) text(name string) string {
	if v, ok := p.value(name, cty.String); ok {
		return v.AsString()
	}
	return ""
}

func (p *providerReader) texts(name string) map[string]string {
	out := map[string]string{}
	if v, ok := p.value(name, cty.Map(cty.String)); ok {
		for k, t := range v.AsValueMap() {
			out[k] = t.AsString()
		}
	}
	return out
}

// file is relative to the model's folder.
func (p *providerReader) file(name string) string {
	f := p.text(name)
	if f == "" || filepath.IsAbs(f) {
		return f
	}
	return filepath.Join(p.w.folder, f)
}

func (f tlsFiles) config() (*tls.Config, error) {
	if f == (tlsFiles{}) {
		return nil, nil
	}
	c := &tls.Config{MinVersion: tls.VersionTLS12}
	if f.ca != "" {
		pem, err := os.ReadFile(f.ca)
		if err != nil {
			return nil, fmt.Errorf("provider \"prometheus\": ca_file: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("provider \"prometheus\": there is no certificate in the ca_file %s", f.ca)
		}
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("provider \"prometheus\": cert_file and key_file: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
