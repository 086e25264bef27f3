import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './reference.css';

/** The public address of the service: this file is at `docs/assets/` below it. */
const BASE = new URL(/* @vite-ignore */ '../../', import.meta.url);

/** Parts of the OpenAPI document that the page changes. */
interface OpenApiDocument {
  info: { description: string };
  servers: { url: string }[];
  components: { securitySchemes: Record<string, unknown> };
}

/**
 * The document as this page can use it: "Execute" calls the server that the page came from, with a token in the header.
 * A token in the address would stay in the browser's history, and the OAuth flows need a client whose redirect address
 * leads here.
 */
async function readDocument(): Promise<OpenApiDocument> {
  const response = await fetch(new URL('openapi.json', BASE));
  if (!response.ok) throw new Error(`openapi.json answered ${response.status}`);
  const document = (await response.json()) as OpenApiDocument;
  const { bearer } = document.components.securitySchemes;
  return {
    ...document,
    info: {
      ...document.info,
      description: `${document.info.description}\n\nPrograms read [openapi.json](${response.url}).`,
    },
    servers: [{ url: BASE.pathname.replace(/\/$/, '') || '/' }],
    components: { ...document.components, securitySchemes: { bearer } },
  };
}

/** Swagger UI has a dark style, which it shows below an element of this class. */
function followColorScheme(): void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

followColorScheme();
SwaggerUI({
  spec: await readDocument(),
  domNode: document.getElementById('reference'),
  // The address names the operation that is open: `/docs#/endpoints/createEndpoint`.
  deepLinking: true,
  docExpansion: 'list',
  filter: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  // The token is gone when the page is.
  persistAuthorization: false,
  // No other document by `?url=`, and no other server that judges this one.
  queryConfigEnabled: false,
  validatorUrl: null,
});
