import { FRAMEWORK_SNIPPETS } from './framework-snippets.js';

/**
 * Languages and frameworks for which there is code. Each code is a whole receiver, which also answers the question
 * whether the endpoint wants events. Those of Node.js and of frameworks call the library of Standard Webhooks; the
 * others need nothing but the language, so a test can run them wherever it is.
 */
export const LANGUAGES = [
  { id: 'node', name: 'Node.js' },
  { id: 'express', name: 'Express' },
  { id: 'next', name: 'Next.js' },
  { id: 'python', name: 'Python' },
  { id: 'flask', name: 'Flask' },
  { id: 'fastapi', name: 'FastAPI' },
  { id: 'go', name: 'Go' },
  { id: 'ruby', name: 'Ruby' },
  { id: 'php', name: 'PHP' },
  { id: 'java', name: 'Java' },
] as const;

export type Language = (typeof LANGUAGES)[number]['id'];

/** Placeholder of a secret that is not shown. */
const PLACEHOLDER = 'whsec_…';

/**
 * Code that verifies deliveries and answers the verification.
 *
 * @param secret in clear; absent: a placeholder stands there
 */
export function snippet(language: Language, secret: string = PLACEHOLDER): string {
  return SNIPPETS[language].replace('SECRET', secret);
}

const SNIPPETS: Record<Language, string> = {
  ...FRAMEWORK_SNIPPETS,
  node: `// receiver.mjs: npm install standardwebhooks
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook('SECRET'); // better: from your environment

createServer(async (request, response) => {
  try {
    const event = webhook.verify(await buffer(request), request.headers); // throws if it is not genuine
    const kind = request.headers['webhook-event-kind'];
    if (kind === 'endpoint.verification') return response.end(event.challenge);
    console.log(kind, event);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`,
  python: `import base64, hashlib, hmac, json, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

KEY = base64.b64decode("SECRET".removeprefix("whsec_"))  # better: from your environment

def is_genuine(body, headers):
    sent_at = headers.get("webhook-timestamp", "")
    if not sent_at.isdecimal() or abs(time.time() - int(sent_at)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{sent_at}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.digest(KEY, signed, hashlib.sha256))
    # While a secret is rotated, there is a signature by each.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(expected, one.encode()) for one in given)

class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        kind = self.headers["webhook-event-kind"]
        if not is_genuine(body, self.headers):
            self.answer(400)
        elif kind == "endpoint.verification":
            self.answer(200, json.loads(body)["challenge"].encode())
        else:
            print(kind, body.decode(), flush=True)
            self.answer(204)

    def answer(self, status, text=b""):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text)

ThreadingHTTPServer(("", 3000), Receiver).serve_forever()`,
  go: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const secret = "SECRET" // better: from your environment

func isGenuine(key, body []byte, header http.Header) bool {
	sentAt := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(sentAt, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", header.Get("webhook-id"), sentAt, body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// While a secret is rotated, there is a signature by each.
	for _, given := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(given), []byte(expected)) {
			return true
		}
	}
	return false
}

func main() {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/webhooks", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || !isGenuine(key, body, r.Header) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		kind := r.Header.Get("webhook-event-kind")
		if kind == "endpoint.verification" {
			var question struct{ Challenge string }
			json.Unmarshal(body, &question)
			io.WriteString(w, question.Challenge)
			return
		}
		fmt.Printf("%s %s\\n", kind, body)
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":3000", nil))
}`,
  ruby: `# config.ru: gem install rackup puma; rackup --port 3000
require "json"
require "openssl"

KEY = "SECRET".delete_prefix("whsec_").unpack1("m") # better: from your environment

# In Rails: genuine?(request.raw_post, request.env)
def genuine?(body, env)
  id, sent_at, given = %w[ID TIMESTAMP SIGNATURE].map { |name| env["HTTP_WEBHOOK_#{name}"].to_s.b }
  return false if (Time.now.to_i - sent_at.to_i).abs > 300

  mac = OpenSSL::HMAC.digest("SHA256", KEY, "#{id}.#{sent_at}.#{body.b}")
  expected = "v1,#{[mac].pack("m0")}"
  # While a secret is rotated, there is a signature by each.
  given.split.any? { |one| OpenSSL.secure_compare(one, expected) }
end

run lambda { |env|
  body = env["rack.input"]&.read.to_s
  next [400, {}, []] unless genuine?(body, env)

  kind = env["HTTP_WEBHOOK_EVENT_KIND"]
  next [200, {}, [JSON.parse(body)["challenge"]]] if kind == "endpoint.verification"

  puts "#{kind} #{body}"
  [204, {}, []]
}`,
  php: `<?php
$key = base64_decode(substr('SECRET', strlen('whsec_'))); // better: from your environment

function isGenuine(string $key, string $body): bool
{
    $sentAt = $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? '';
    if (abs(time() - (int) $sentAt) > 300) {
        return false;
    }
    $signed = ($_SERVER['HTTP_WEBHOOK_ID'] ?? '') . '.' . $sentAt . '.' . $body;
    $expected = 'v1,' . base64_encode(hash_hmac('sha256', $signed, $key, true));
    // While a secret is rotated, there is a signature by each.
    foreach (explode(' ', $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '') as $given) {
        if (hash_equals($expected, $given)) {
            return true;
        }
    }
    return false;
}

$body = file_get_contents('php://input');
$kind = $_SERVER['HTTP_WEBHOOK_EVENT_KIND'] ?? '';
if (!isGenuine($key, $body)) {
    http_response_code(400);
} elseif ($kind === 'endpoint.verification') {
    echo json_decode($body)->challenge;
} else {
    error_log($kind . ' ' . $body);
    http_response_code(204);
}`,
  java: `import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

public class Receiver {
  static final String SIGNING_KEY = "SECRET"; // better: from your environment

  static boolean isGenuine(byte[] body, Headers headers) {
    String sentAt = headers.getFirst("webhook-timestamp");
    String signatures = headers.getFirst("webhook-signature");
    if (sentAt == null || signatures == null || !sentAt.matches("[0-9]{1,12}")) return false;
    if (Math.abs(Instant.now().getEpochSecond() - Long.parseLong(sentAt)) > 300) return false;
    byte[] expected = utf8("v1," + signature(headers.getFirst("webhook-id") + "." + sentAt + ".", body));
    // While a secret is rotated, there is a signature by each.
    for (String given : signatures.split(" ")) if (MessageDigest.isEqual(utf8(given), expected)) return true;
    return false;
  }

  static String signature(String head, byte[] body) {
    try {
      byte[] key = Base64.getDecoder().decode(SIGNING_KEY.replaceFirst("^whsec_", ""));
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(utf8(head));
      return Base64.getEncoder().encodeToString(mac.doFinal(body));
    } catch (GeneralSecurityException error) {
      throw new IllegalStateException(error);
    }
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  public static void main(String[] arguments) throws Exception {
    HttpServer server = HttpServer.create(new InetSocketAddress(3000), 0);
    server.createContext("/webhooks", exchange -> {
      byte[] body = exchange.getRequestBody().readAllBytes();
      String text = new String(body, StandardCharsets.UTF_8);
      String kind = exchange.getRequestHeaders().getFirst("webhook-event-kind");
      if (!isGenuine(body, exchange.getRequestHeaders())) {
        exchange.sendResponseHeaders(400, -1);
      } else if ("endpoint.verification".equals(kind)) {
        byte[] challenge = utf8(text.replaceFirst("(?s).*\\"challenge\\"\\\\s*:\\\\s*\\"([^\\"]+)\\".*", "$1"));
        exchange.sendResponseHeaders(200, challenge.length);
        exchange.getResponseBody().write(challenge);
      } else {
        System.out.println(kind + " " + text);
        exchange.sendResponseHeaders(204, -1);
      }
      exchange.close();
    });
    server.start();
  }
}`,
};
