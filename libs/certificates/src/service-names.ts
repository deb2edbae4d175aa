// SPDX-License-Identifier: Apache-2.0
/**
 * serviceNames returns the DNS names of a Service in a cluster. The API server uses the first one.
 * Usage: `serviceNames("operator-webhook-service", namespace)`.
 */
export function serviceNames(service: string, namespace: string): readonly string[] {
  const name = `${service}.${namespace}`;
  return [`${name}.svc`, `${name}.svc.cluster.local`, name];
}
