// SPDX-License-Identifier: Apache-2.0
/**
 * What a Service is called within a cluster. The API server asks for the first one.
 * Usage: `serviceNames("operator-webhook-service", namespace)`.
 */
export function serviceNames(service: string, namespace: string): readonly string[] {
  const name = `${service}.${namespace}`;
  return [`${name}.svc`, `${name}.svc.cluster.local`, name];
}
