/** The languages that there is code for: the libraries of Standard Webhooks (github.com/standard-webhooks). */
export const LANGUAGES = [
  { id: 'node', name: 'Node.js' },
  { id: 'python', name: 'Python' },
  { id: 'go', name: 'Go' },
  { id: 'ruby', name: 'Ruby' },
  { id: 'php', name: 'PHP' },
  { id: 'java', name: 'Java' },
] as const;

export type Language = (typeof LANGUAGES)[number]['id'];

/** What stands for a secret that is not shown. */
const PLACEHOLDER = 'whsec_…';

/** Code that verifies a delivery. @param secret in clear; absent: a placeholder stands there */
export function snippet(language: Language, secret: string = PLACEHOLDER): string {
  return SNIPPETS[language].replace('SECRET', secret);
}

const SNIPPETS: Record<Language, string> = {
  node: `// npm install standardwebhooks
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook('SECRET'); // better: from your environment

createServer(async (request, response) => {
  try {
    const event = webhook.verify(await buffer(request), request.headers); // throws if it is not genuine
    console.log(request.headers['webhook-event-kind'], event);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
}).listen(3000);`,
  python: `# pip install standardwebhooks flask
from flask import Flask, request
from standardwebhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook("SECRET")  # better: from your environment

@app.post("/webhooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), request.headers)
    except WebhookVerificationError:
        return "", 400
    print(request.headers["webhook-event-kind"], event)
    return "", 204`,
  go: `// go get github.com/standard-webhooks/standard-webhooks/libraries
package main

import (
	"io"
	"log"
	"net/http"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

func main() {
	webhook, err := standardwebhooks.NewWebhook("SECRET") // better: from your environment
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("POST /webhooks", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || webhook.Verify(body, r.Header) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		log.Printf("%s %s", r.Header.Get("webhook-event-kind"), body)
		w.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe(":3000", nil))
}`,
  ruby: `# gem install standardwebhooks
require "standardwebhooks"

WEBHOOK = StandardWebhooks::Webhook.new("SECRET") # better: from your environment

class WebhooksController < ApplicationController
  def create
    names = %w[webhook-id webhook-timestamp webhook-signature]
    headers = names.to_h { |name| [name, request.headers.fetch(name)] }
    event = WEBHOOK.verify(request.raw_post, headers)
    Rails.logger.info("#{request.headers["webhook-event-kind"]} #{event}")
    head :no_content
  rescue StandardWebhooks::WebhookVerificationError
    head :bad_request
  end
end`,
  php: `<?php
// composer require standard-webhooks/standard-webhooks
require 'vendor/autoload.php';

$webhook = new \\StandardWebhooks\\Webhook('SECRET'); // better: from your environment
$headers = array_change_key_case(getallheaders());

try {
    $event = $webhook->verify(file_get_contents('php://input'), $headers);
    error_log($headers['webhook-event-kind'] . ' ' . json_encode($event));
    http_response_code(204);
} catch (\\StandardWebhooks\\Exception\\WebhookVerificationException $error) {
    http_response_code(400);
}`,
  java: `// com.standardwebhooks:standardwebhooks
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Receiver {
  public static void main(String[] arguments) throws Exception {
    Webhook webhook = new Webhook("SECRET"); // better: from your environment
    HttpServer server = HttpServer.create(new InetSocketAddress(3000), 0);
    server.createContext("/webhooks", exchange -> {
      String body = new String(exchange.getRequestBody().readAllBytes(), "UTF-8");
      Map<String, List<String>> headers = new HashMap<>();
      exchange.getRequestHeaders().forEach((name, values) -> headers.put(name.toLowerCase(), values));
      try {
        webhook.verify(body, headers);
        System.out.println(headers.get("webhook-event-kind") + " " + body);
        exchange.sendResponseHeaders(204, -1);
      } catch (WebhookVerificationException error) {
        exchange.sendResponseHeaders(400, -1);
      }
      exchange.close();
    });
    server.start();
  }
}`,
};
