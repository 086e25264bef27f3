/** Part of Swagger UI that is used. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** Shows an OpenAPI document in an element. See the package's "Configuration" for the options. */
  export default function SwaggerUI(options: Record<string, unknown>): unknown;
}
