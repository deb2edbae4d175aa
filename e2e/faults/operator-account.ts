// SPDX-License-Identifier: Apache-2.0
/**
 * The operator's service account in a test cluster, with the rights that it is installed with and no others.
 * Usage: `const kubeconfig = await createOperatorAccount(cluster);`
 */
import { operatorIdentity } from "@switchyard/render";
import type { ControlPlane } from "@switchyard/testing";
import { componentSettings } from "../src/identity-objects.ts";

/** A kubeconfig with a token of the account. Names are those that the operator's flags have unless told. */
export async function createOperatorAccount(cluster: ControlPlane): Promise<string> {
  const { operatorServiceAccount: account, namespace } = componentSettings;
  const list = { apiVersion: "v1", kind: "List", items: operatorIdentity(componentSettings) };
  await cluster.kubectl(["create", "-f", "-"], { input: JSON.stringify(list) });
  const token = await cluster.kubectl(["create", "token", account, "-n", namespace, "--duration", "24h"]);
  return cluster.clientFor({ token: token.trim() });
}
