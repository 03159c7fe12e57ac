package world

import (
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestTheProvidersCredentialsGoToItsAddressOnly(t *testing.T) {
	for credentials, want := range map[string]string{
		`user = "u"` + "\n" + `password = "hunter22"`:                   "Basic dTpodW50ZXIyMg==",
		`bearer_token = "token-123"`:                                    "Bearer token-123",
		`headers = { X-Scope-OrgID = "tenant-1", Authorization = "x" }`: "x",
	} {
		m := newTestModel(t)
		log := m.serve(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, "no %s, %s", r.Header.Get("Authorization"), "hunter22")
		})
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" || r.Header.Get("X-Scope-OrgID") != "" {
				t.Error("credentials were sent elsewhere")
			}
			promAnswer{series: []string{"{} 1"}}.write(w)
		}))
		defer other.Close()
		m.vars["other"] = cty.StringVal(other.URL)
		w := m.mustCompile(t, "provider \"prometheus\" {\n address = var.at\n "+credentials+"\n}\n"+`
		fluent "open" {
			observe "prometheus" {
				query = "q()"
				value = "value > 0"
			}
		}
		fluent "belief" {
			observe "prometheus" {
				query   = "q()"
				value   = "value > 0"
				address = var.other
			}
		}`)
		got := m.observe(t, w, "open", "belief")
		if strings.Contains(got, "hunter22") && strings.Contains(credentials, "hunter22") || strings.Contains(got, "token-123") || !strings.Contains(got, "belief = true") {
			t.Error(got)
		}
		if auth := log.seen[0].header.Get("Authorization"); auth != want {
			t.Errorf("%s: sent %q", credentials, auth)
		}
	}
}

func TestAProviderThatCannotConnectIsToldWhenItIsAsked(t *testing.T) {
	for settings, want := range map[string]string{
		`ca_file = "absent.pem"`:     "ca_file: open ",
		`bearer_token = var.nowhere`: "the bearer_token of provider \"prometheus\" is not known",
		`ca_file = "prometheus.yml"`: "ca_file: open ",
	} {
		m := newTestModel(t)
		m.vars["at"] = cty.StringVal("http://127.0.0.1:1")
		w := m.mustCompile(t, "provider \"prometheus\" {\n address = var.at\n "+settings+"\n}\n"+`fluent "open" {
			observe "prometheus" {
				query = "q()"
				value = "value > 0"
			}
		}`)
		if got := m.observe(t, w, "open"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", settings, got)
		}
	}
}

func TestTheProvidersCertificatesAreUsed(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		promAnswer{series: []string{"{} 1"}}.write(w)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // It tells of each handshake that fails.
	s.StartTLS()
	defer s.Close()
	folder := t.TempDir()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	for name, text := range map[string][]byte{"ca.pem": ca, "no.pem": []byte("no certificate")} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for settings, want := range map[string]string{
		`ca_file = "ca.pem"`: "open = true {value = 1}",
		``:                   "certificate signed by unknown authority",
		`ca_file = "no.pem"`: "there is no certificate in the ca_file",
		"cert_file = \"ca.pem\"\nkey_file = \"no.pem\"": "cert_file and key_file: ",
	} {
		m := newTestModel(t)
		m.vars["at"] = cty.StringVal(s.URL)
		w, diags := m.compile(t, folder, "provider \"prometheus\" {\n address = var.at\n "+settings+"\n}\n"+`fluent "open" {
			observe "prometheus" {
				query = "q()"
				value = "value > 0"
			}
		}`)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if got := m.observe(t, w, "open"); !strings.Contains(got, want) {
			t.Errorf("%s: %s", settings, got)
		}
	}
}
