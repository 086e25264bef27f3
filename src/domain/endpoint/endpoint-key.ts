/** Names an endpoint. */
export interface EndpointKey {
  account_id: string;
  endpoint_id: string;
}
