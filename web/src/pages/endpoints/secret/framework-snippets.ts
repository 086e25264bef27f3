/**
 * Receivers in frameworks: each is a handler that verifies the body as it was received, with one call of the library of
 * Standard Webhooks.
 */
export const FRAMEWORK_SNIPPETS = {
  express: `// receiver.mjs: npm install express standardwebhooks
import express from 'express';
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook('SECRET'); // better: from your environment
const app = express();

// The body as it came: what express.json() makes of it has another signature.
app.post('/webhooks', express.raw({ type: 'application/json' }), (request, response) => {
  let event;
  try {
    event = webhook.verify(request.body, request.headers); // throws if it is not genuine
  } catch {
    return response.sendStatus(400);
  }
  const kind = request.get('webhook-event-kind');
  if (kind === 'endpoint.verification') return response.send(event.challenge);
  console.log(kind, event);
  response.sendStatus(204);
});

app.listen(3000);`,
  next: `// app/webhooks/route.js: npm install standardwebhooks
import { Webhook } from 'standardwebhooks';

const webhook = new Webhook('SECRET'); // better: from your environment

export async function POST(request) {
  let event;
  try {
    event = webhook.verify(await request.text(), Object.fromEntries(request.headers)); // throws if it is not genuine
  } catch {
    return new Response(null, { status: 400 });
  }
  const kind = request.headers.get('webhook-event-kind');
  if (kind === 'endpoint.verification') return new Response(event.challenge);
  console.log(kind, event);
  return new Response(null, { status: 204 });
}`,
  flask: `# pip install flask standardwebhooks
from flask import Flask, request
from standardwebhooks import Webhook

webhook = Webhook("SECRET")  # better: from your environment
app = Flask(__name__)

@app.post("/webhooks")
def receive():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))  # raises if it is not genuine
    except Exception:
        return "", 400
    kind = request.headers["webhook-event-kind"]
    if kind == "endpoint.verification":
        return event["challenge"]
    print(kind, event, flush=True)
    return "", 204

app.run(port=3000)`,
  fastapi: `# pip install fastapi uvicorn standardwebhooks
import uvicorn
from fastapi import FastAPI, Request, Response
from standardwebhooks import Webhook

webhook = Webhook("SECRET")  # better: from your environment
app = FastAPI()

@app.post("/webhooks")
async def receive(request: Request):
    try:
        event = webhook.verify(await request.body(), dict(request.headers))  # raises if it is not genuine
    except Exception:
        return Response(status_code=400)
    kind = request.headers["webhook-event-kind"]
    if kind == "endpoint.verification":
        return Response(event["challenge"])
    print(kind, event, flush=True)
    return Response(status_code=204)

uvicorn.run(app, port=3000)`,
};
