import { escapeHtml, pagePolicy, renderHtmlPage } from '../http/html.js';
import type { Json, JsonObject } from './json.js';

const STYLE = `:root{color-scheme:light dark}
body{font:1rem/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
h2{margin-top:3rem}details{border:1px solid #8886;border-radius:.3rem;margin:.5rem 0;padding:.5rem .8rem}
summary{cursor:pointer}table{border-collapse:collapse;width:100%}
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem .3rem 0;border-bottom:1px solid #8884}
pre{overflow-x:auto;padding:.6rem;background:#8882}code{overflow-wrap:anywhere}
.method{display:inline-block;min-width:4.5rem;font-weight:bold}`;

export const contentSecurityPolicy = () => pagePolicy(STYLE);

/** The OpenAPI document as one page for people: every operation folded, found by the browser's own search and by its address. */
export function renderDocs(document: JsonObject): string {
  const groups = new Map<string, string[]>();
  for (const part of ['paths', 'webhooks']) {
    for (const [path, methods] of Object.entries(object(document[part]))) {
      for (const [method, operation] of Object.entries(object(methods))) {
        const [tag = ''] = object(operation)['tags'] as string[];
        const rendered = renderOperation(document, path, method, object(operation));
        groups.set(tag, [...(groups.get(tag) ?? []), rendered]);
      }
    }
  }
  const schemas = Object.entries(object(object(document['components'])['schemas']));
  groups.set(
    'schemas',
    schemas.map(([name, schema]) => renderSchema(name, object(schema))),
  );
  const contents = [...groups.keys()].map((tag) => `<a href="#${tag}">${tag}</a>`).join(' · ');
  const sections = [...groups].map(
    ([tag, parts]) => `<section id="${tag}"><h2>${tag}</h2>${parts.join('')}</section>`,
  );
  return renderHtmlPage(
    'Hookline API',
    STYLE,
    `<p>Programs read <a href="/openapi.json">openapi.json</a>. Send a token with every request:
<code>Authorization: Bearer …</code>.</p><nav aria-label="Resources">${contents}</nav>${sections.join('\n')}`,
  );
}

function renderSchema(name: string, schema: JsonObject): string {
  return `<details id="schema-${escapeHtml(name)}"><summary><code>${escapeHtml(name)}</code></summary>${json(schema)}</details>`;
}

function renderOperation(document: JsonObject, path: string, method: string, operation: JsonObject): string {
  const id = String(operation['operationId']);
  const body = operation['requestBody'] && schemaOf(object(operation['requestBody']));
  return `<details id="${escapeHtml(id)}"><summary><span class="method">${method.toUpperCase()}</span> <code>${escapeHtml(path)}</code><br>${text(operation['summary'])}</summary>
<p>${text(operation['description']).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>
${renderParameters((operation['parameters'] ?? []) as Json[])}
${body ? `<h3>Body</h3>${json(body)}` : ''}
<h3>Answers</h3><table><tr><th scope="col">Status</th><th scope="col">Meaning</th></tr>${Object.entries(
    object(operation['responses']),
  )
    .map(([status, response]) => renderResponse(status, resolve(document, object(response))))
    .join('')}</table></details>`;
}

function renderParameters(parameters: Json[]): string {
  if (parameters.length === 0) return '';
  const rows = parameters.map(object).map((parameter) => {
    const { description, ...schema } = object(parameter['schema']);
    const meaning = parameter['description'] ?? description ?? '';
    return `<tr><td><code>${text(parameter['name'])}</code></td><td>${text(parameter['in'])}</td><td>${text(meaning)} <code>${escapeHtml(JSON.stringify(schema))}</code></td></tr>`;
  });
  return `<h3>Parameters</h3><table><tr><th scope="col">Name</th><th scope="col">In</th><th scope="col">What</th></tr>${rows.join('')}</table>`;
}

function renderResponse(status: string, response: JsonObject): string {
  const schema = response['content'] && Number(status) < 400 ? schemaOf(response) : undefined;
  return `<tr><td>${status}</td><td>${text(response['description']).replace(/`([^`]+)`/g, '<code>$1</code>')}${schema ? json(schema) : ''}</td></tr>`;
}

/** The part of the document that a reference names. */
function resolve(document: JsonObject, value: JsonObject): JsonObject {
  const reference = value['$ref'];
  if (typeof reference !== 'string') return value;
  return reference
    .split('/')
    .slice(1)
    .reduce((part, name) => object(part[name]), document);
}

function schemaOf(holder: JsonObject): JsonObject | undefined {
  const media = holder['content'] && object(object(holder['content'])['application/json']);
  return media ? object(media['schema']) : undefined;
}

/** JSON as text, where references to schemas are links. */
function json(value: JsonObject): string {
  const html = escapeHtml(JSON.stringify(value, null, 2));
  return `<pre>${html.replace(/#\/components\/schemas\/(\w+)/g, '<a href="#schema-$1">$&</a>')}</pre>`;
}

function text(value: Json | undefined): string {
  return escapeHtml(String(value ?? ''));
}

function object(value: Json | undefined): JsonObject {
  return (value ?? {}) as JsonObject;
}
